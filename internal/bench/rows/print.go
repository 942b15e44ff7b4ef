package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"syscall"
	"time"
)

// printer prints one figure a line.
type printer struct {
	out  io.Writer
	rows int
}

func (p *printer) line(what, format string, args ...any) {
	fmt.Fprintf(p.out, "%-26s %s\n", what, fmt.Sprintf(format, args...))
}

// measure prints what f takes, divided by the rows.
func (p *printer) measure(what string, f func() error) error {
	wall, cpu := time.Now(), cpuTime()
	err := f()
	rows := float64(p.rows)
	p.line(what, "%.1f ns/row wall, %.1f ns/row CPU, %.1f s",
		float64(time.Since(wall))/rows, float64(cpuTime()-cpu)/rows, time.Since(wall).Seconds())
	return err
}

// cpuTime returns the time that all threads have computed.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// peakMemory returns the highest resident memory in bytes, 0 when unknown.
func peakMemory() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(status) {
		if fields := bytes.Fields(line); len(fields) == 3 && string(fields[0]) == "VmHWM:" {
			kib, _ := strconv.ParseInt(string(fields[1]), 10, 64)
			return kib << 10
		}
	}
	return 0
}
