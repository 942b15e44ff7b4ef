package sim

import (
	"container/heap"
	"math"
	"math/rand/v2"
)

// Server is the station under test.
type Server struct {
	Service Law
	MeanS   float64 // mean service time, or mean work of a sharing station
	Servers int     // first come, first served; 0 stands for any number
	// Speed, when set, makes the station share its speed equally among the n
	// requests that it holds; Servers is then ignored.
	Speed func(n int) float64
	Slots int // requests that a sharing station works on at once, the others wait in order; 0: all
	Room  int // requests that it holds at most; further ones are shed; 0: no limit
	// Stalls stop all work for the last StallS of every StallEveryS.
	StallEveryS, StallS float64
	// One stop of all work.
	StopAtS, StopS float64
	// Factor, when set, is by how much longer the work of a request takes that
	// arrives at time t, in seconds from the start: a leak, a warm-up.
	Factor func(t float64) float64
	// RefuseS is how long a rejection takes; 0: 1 ms.
	RefuseS float64
}

// work draws the work of a request that arrives at time t.
func (s *Server) work(t float64, rng *rand.Rand) float64 {
	w := s.MeanS * s.Service(rng)
	if s.Factor != nil {
		w *= s.Factor(t)
	}
	return w
}

// refuse is how long a rejection takes, in seconds.
func (s *Server) refuse() float64 {
	if s.RefuseS > 0 {
		return s.RefuseS
	}
	return shedS
}

// Leak is the factor of a server that gets slower by a share of its first speed
// every second.
func Leak(perS float64) func(t float64) float64 {
	return func(t float64) float64 { return 1 + perS*t }
}

// WarmUp is the factor of a server that begins so many times as slow and gets
// there with the given time constant, in seconds.
func WarmUp(times, seconds float64) func(t float64) float64 {
	return func(t float64) float64 { return 1 + (times-1)*math.Exp(-t/seconds) }
}

// One is the speed of a plain processor-sharing server.
func One(int) float64 { return 1 }

// Batching is the speed n/(1 + a(n−1)) of a server that gains from concurrency,
// up to 1/a.
func Batching(a float64) func(n int) float64 {
	return func(n int) float64 { return float64(n) / (1 + a*float64(n-1)) }
}

// Retrograde is the speed of the universal scalability law, which falls again
// beyond √((1−a)/b) requests.
func Retrograde(a, b float64) func(n int) float64 {
	return func(n int) float64 {
		x := float64(n)
		return x / (1 + a*(x-1) + b*x*(x-1))
	}
}

// worked is the time that the station could work until t.
func (s *Server) worked(t float64) float64 {
	if s.StopS > 0 && t > s.StopAtS {
		t = max(s.StopAtS, t-s.StopS)
	}
	if s.StallS > 0 {
		useful := s.StallEveryS - s.StallS
		k := math.Floor(t / s.StallEveryS)
		t = k*useful + min(t-k*s.StallEveryS, useful)
	}
	return t
}

// wall is the inverse of worked.
func (s *Server) wall(w float64) float64 {
	if s.StallS > 0 {
		useful := s.StallEveryS - s.StallS
		k := math.Floor(w / useful)
		w = k*s.StallEveryS + w - k*useful
	}
	if s.StopS > 0 && w > s.StopAtS {
		w += s.StopS
	}
	return w
}

// station holds jobs and says when the next one ends.
type station interface {
	arrive(now float64, id int, work float64)
	next() float64 // +Inf when it holds no job
	complete(now float64) int
	held() int
}

func newStation(s *Server) station {
	if s.Speed != nil {
		return &sharing{server: s}
	}
	return &fifo{server: s}
}

// job is a request at the station; at orders the heap.
type job struct {
	at float64
	id int
}

type jobs []job

func (j jobs) Len() int           { return len(j) }
func (j jobs) Less(a, b int) bool { return j[a].at < j[b].at }
func (j jobs) Swap(a, b int)      { j[a], j[b] = j[b], j[a] }
func (j *jobs) Push(x any)        { *j = append(*j, x.(job)) }
func (j *jobs) Pop() any {
	last := (*j)[len(*j)-1]
	*j = (*j)[:len(*j)-1]
	return last
}

// line is a queue of those who wait, first come first served.
type line[T any] struct {
	all  []T
	head int
}

func (l *line[T]) len() int { return len(l.all) - l.head }

func (l *line[T]) push(v T) { l.all = append(l.all, v) }

// first takes out who has waited longest; the line must not be empty.
func (l *line[T]) first() T {
	v := l.all[l.head]
	if l.head++; l.head == len(l.all) {
		l.all, l.head = l.all[:0], 0
	}
	return v
}

// last takes out who came last; the line must not be empty.
func (l *line[T]) last() T {
	v := l.all[len(l.all)-1]
	if l.all = l.all[:len(l.all)-1]; l.head == len(l.all) {
		l.all, l.head = l.all[:0], 0
	}
	return v
}

// fifo is a queue before identical servers. Its clock is the time worked.
type fifo struct {
	server  *Server
	running jobs      // at: end, on the station's clock
	queue   line[job] // at: work
}

func (f *fifo) held() int { return len(f.running) + f.queue.len() }

func (f *fifo) arrive(now float64, id int, work float64) {
	if f.server.Servers > 0 && len(f.running) >= f.server.Servers {
		f.queue.push(job{work, id})
		return
	}
	heap.Push(&f.running, job{f.server.worked(now) + work, id})
}

func (f *fifo) next() float64 {
	if len(f.running) == 0 {
		return math.Inf(1)
	}
	return f.server.wall(f.running[0].at)
}

func (f *fifo) complete(float64) int {
	done := heap.Pop(&f.running).(job)
	if f.queue.len() > 0 {
		j := f.queue.first()
		heap.Push(&f.running, job{done.at + j.at, j.id})
	}
	return done.id
}

// sharing divides its speed equally. Each job ends when the service given to
// every one, v, reaches its work. Where all slots are taken, jobs wait.
type sharing struct {
	server *Server
	jobs   jobs      // at: v at the end
	queue  line[job] // at: work
	v, w   float64
}

func (s *sharing) held() int { return len(s.jobs) + s.queue.len() }

func (s *sharing) advance(now float64) {
	w := s.server.worked(now)
	if n := len(s.jobs); n > 0 {
		s.v += (w - s.w) * s.server.Speed(n) / float64(n)
	} else {
		s.v = 0 // keeps digits
	}
	s.w = w
}

func (s *sharing) arrive(now float64, id int, work float64) {
	s.advance(now)
	if s.server.Slots > 0 && len(s.jobs) >= s.server.Slots {
		s.queue.push(job{work, id})
		return
	}
	heap.Push(&s.jobs, job{s.v + work, id})
}

func (s *sharing) next() float64 {
	n := len(s.jobs)
	if n == 0 {
		return math.Inf(1)
	}
	left := max(0, s.jobs[0].at-s.v)
	return s.server.wall(s.w + left*float64(n)/s.server.Speed(n))
}

func (s *sharing) complete(now float64) int {
	s.advance(now)
	done := heap.Pop(&s.jobs).(job)
	if s.queue.len() > 0 {
		j := s.queue.first()
		heap.Push(&s.jobs, job{s.v + j.at, j.id})
	}
	return done.id
}
