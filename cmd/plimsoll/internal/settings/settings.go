// Package settings holds the configuration of the server: its defaults, the
// flags, their environment twins, and the YAML file, in that order of weight
// from the last to the first (flag > environment > YAML > default).
//
// Reading is strict. An unknown key or a value that is not understood is an
// error with its line, and all problems are reported at once.
package settings

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/plimsoll/plimsoll/cmd/plimsoll/internal/cli"
)

// Off as an address turns a listener off.
const Off = "off"

// maxFile bounds the files that are read.
const maxFile = 1 << 20

// Settings configure `plimsoll serve`. The YAML key of a field is the name of
// its flag with underscores.
type Settings struct {
	OTLPGRPCAddr string `yaml:"otlp_grpc_addr"`
	OTLPHTTPAddr string `yaml:"otlp_http_addr"`
	HTTPAddr     string `yaml:"http_addr"`
	AdminAddr    string `yaml:"admin_addr"`

	DataDir string `yaml:"data_dir"`
	Mapping string `yaml:"mapping"`

	AlertWebhook string `yaml:"alert_webhook"`
	AlertForm    string `yaml:"alert_form"`
	OnVerdict    string `yaml:"on_verdict"`
	ExternalURL  string `yaml:"external_url"`

	MaxAge         cli.Duration `yaml:"max_age"`
	RetentionAge   cli.Duration `yaml:"retention_age"`
	RetentionBytes cli.Bytes    `yaml:"retention_bytes"`
	MinFree        cli.Bytes    `yaml:"min_free"`

	TokenFile string `yaml:"token_file"`
	TLSCert   string `yaml:"tls_cert"`
	TLSKey    string `yaml:"tls_key"`

	MaxExportBytes   cli.Bytes `yaml:"max_export_bytes"`
	MaxInFlightBytes cli.Bytes `yaml:"max_in_flight_bytes"`
	MaxRuns          int       `yaml:"max_runs"`
	MaxSources       int       `yaml:"max_sources"`
	MaxConnections   int       `yaml:"max_connections"`
	MaxBodyBytes     cli.Bytes `yaml:"max_body_bytes"`
	MaxStreams       int       `yaml:"max_streams"`
	MaxComputing     int       `yaml:"max_computing"`
	CacheBytes       cli.Bytes `yaml:"cache_bytes"`

	ShutdownDelay   cli.Duration `yaml:"shutdown_delay"`
	ShutdownTimeout cli.Duration `yaml:"shutdown_timeout"`
	LogLevel        string       `yaml:"log_level"`
	LogFormat       string       `yaml:"log_format"`
}

// Default returns the settings of a server that was told nothing. The data
// directory depends on the environment.
func Default(lookup func(string) (string, bool)) Settings {
	return Settings{
		OTLPGRPCAddr: "127.0.0.1:4317", OTLPHTTPAddr: "127.0.0.1:4318", HTTPAddr: "127.0.0.1:4319", AdminAddr: Off,
		DataDir: defaultDataDir(lookup), AlertForm: "alertmanager",
		MaxAge: cli.Duration(24 * time.Hour), RetentionAge: cli.Duration(30 * 24 * time.Hour), RetentionBytes: 10 << 30, MinFree: 128 << 20,
		MaxExportBytes: 16 << 20, MaxInFlightBytes: 256 << 20, MaxRuns: 10_000, MaxSources: 2_000, MaxConnections: 512,
		MaxBodyBytes: 1 << 20, MaxStreams: 64, MaxComputing: 2, CacheBytes: 32 << 20,
		ShutdownTimeout: cli.Duration(20 * time.Second), LogLevel: "info", LogFormat: "text",
	}
}

// defaultDataDir follows the XDG rules for state that outlives a restart.
func defaultDataDir(lookup func(string) (string, bool)) string {
	if dir, ok := lookup("XDG_STATE_HOME"); ok && filepath.IsAbs(dir) {
		return filepath.Join(dir, "plimsoll")
	}
	if home, ok := lookup("HOME"); ok && filepath.IsAbs(home) {
		return filepath.Join(home, ".local", "state", "plimsoll")
	}
	return "plimsoll-data"
}

// Flags binds the settings to flags, with their present values as defaults.
func (s *Settings) Flags(fs *flag.FlagSet) {
	fs.StringVar(&s.OTLPGRPCAddr, "otlp-grpc-addr", s.OTLPGRPCAddr, "`ADDR` to receive OTLP over gRPC on; port 0 takes a free one, off none")
	fs.StringVar(&s.OTLPHTTPAddr, "otlp-http-addr", s.OTLPHTTPAddr, "`ADDR` to receive OTLP over HTTP on; port 0 takes a free one, off none")
	fs.StringVar(&s.HTTPAddr, "http-addr", s.HTTPAddr, "`ADDR` to serve the API on; port 0 takes a free one")
	fs.StringVar(&s.AdminAddr, "admin-addr", s.AdminAddr, "`ADDR` to serve profiles (/debug/pprof/) on; keep it on loopback")
	fs.StringVar(&s.DataDir, "data-dir", s.DataDir, "`DIR` to keep runs in; made when it is missing")
	fs.StringVar(&s.Mapping, "mapping", s.Mapping, "`FILE` that says what other attributes, metrics and outcomes mean")
	fs.StringVar(&s.AlertWebhook, "alert-webhook", s.AlertWebhook, "`URL` to post alerts to, such as http://127.0.0.1:9093/api/v2/alerts")
	fs.StringVar(&s.AlertForm, "alert-form", s.AlertForm, "`FORM` of what is posted: alertmanager or json")
	fs.StringVar(&s.OnVerdict, "on-verdict", s.OnVerdict, "run `CMD` in a shell, with the verdict on its standard input, when a run has ended or an alert begins")
	fs.StringVar(&s.ExternalURL, "external-url", s.ExternalURL, "`URL` at which others reach the API, for links in alerts")
	fs.Var(&s.MaxAge, "max-age", "refuse rows older than `DURATION`; 0 takes them all")
	fs.Var(&s.RetentionAge, "retention-age", "remove the rows of runs without data for `DURATION`; 0 keeps them")
	fs.Var(&s.RetentionBytes, "retention-bytes", "remove the rows of the oldest finished runs beyond `SIZE`; 0 keeps them")
	fs.Var(&s.MinFree, "min-free", "refuse data when the disk has less than `SIZE` free")
	fs.StringVar(&s.TokenFile, "token-file", s.TokenFile, "`FILE` with the bearer token that callers must send (PLIMSOLL_TOKEN holds the token itself)")
	fs.StringVar(&s.TLSCert, "tls-cert", s.TLSCert, "`FILE` with the certificate chain (PEM) of all listeners")
	fs.StringVar(&s.TLSKey, "tls-key", s.TLSKey, "`FILE` with the private key (PEM)")
	fs.Var(&s.MaxExportBytes, "max-export-bytes", "refuse exports beyond `SIZE`, compressed or not; 1MiB to 64MiB")
	fs.Var(&s.MaxInFlightBytes, "max-in-flight-bytes", "ask senders to come back when `SIZE` of exports is being handled")
	fs.IntVar(&s.MaxRuns, "max-runs", s.MaxRuns, "keep at most `N` runs in the list")
	fs.IntVar(&s.MaxSources, "max-sources", s.MaxSources, "take data of at most `N` sources that name no run")
	fs.IntVar(&s.MaxConnections, "max-connections", s.MaxConnections, "hold at most `N` connections per listener")
	fs.Var(&s.MaxBodyBytes, "max-body-bytes", "refuse API bodies beyond `SIZE`")
	fs.IntVar(&s.MaxStreams, "max-streams", s.MaxStreams, "hold at most `N` event streams")
	fs.IntVar(&s.MaxComputing, "max-computing", s.MaxComputing, "compute at most `N` answers at once")
	fs.Var(&s.CacheBytes, "cache-bytes", "remember answers up to `SIZE`")
	fs.Var(&s.ShutdownDelay, "shutdown-delay", "after a signal, answer /readyz with 503 for `DURATION` before intake stops")
	fs.Var(&s.ShutdownTimeout, "shutdown-timeout", "finish calls under way for at most `DURATION`")
	fs.StringVar(&s.LogLevel, "log-level", s.LogLevel, "`LEVEL` debug, info, warn or error")
	fs.StringVar(&s.LogFormat, "log-format", s.LogFormat, "`FORMAT` text or json")
}

// Load reads the settings of a command: defaults, then the file that --config
// or PLIMSOLL_CONFIG names, then the environment, then flags.
func Load(env *cli.Env, cmd cli.Command) (Settings, error) {
	var file string
	bind := func(s *Settings) *flag.FlagSet {
		fs := cmd.NewFlags()
		fs.StringVar(&file, "config", "", "`FILE` with settings in YAML")
		s.Flags(fs)
		return fs
	}
	scratch := Default(env.Lookup) // finds the file and what is wrong with flags
	if _, err := cmd.Parse(env, bind(&scratch)); err != nil {
		return Settings{}, err
	}
	s := Default(env.Lookup)
	if path := file; path != "" {
		if err := s.readFile(path); err != nil {
			return Settings{}, err
		}
	}
	if _, err := cmd.Parse(env, bind(&s)); err != nil {
		return Settings{}, err
	}
	if err := s.Validate(); err != nil {
		return Settings{}, cli.Usagef("settings:\n%w", err)
	}
	return s, nil
}

func (s *Settings) readFile(path string) error {
	data, err := ReadFile(path)
	if err != nil {
		return fmt.Errorf("read config: %w", err)
	}
	if err := s.decode(data); err != nil {
		return fmt.Errorf("read config %s: %w", path, err)
	}
	return nil
}

// decode reads YAML over the present values.
func (s *Settings) decode(data []byte) error {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	err := dec.Decode(s)
	if errors.Is(err, io.EOF) {
		return nil
	}
	if e, ok := errors.AsType[*yaml.TypeError](err); ok {
		return errors.New(strings.ReplaceAll(strings.Join(e.Errors, "\n"), "in type settings.Settings", "(see docs/configuration.md)"))
	}
	if err != nil {
		return err
	}
	if err := dec.Decode(new(any)); !errors.Is(err, io.EOF) {
		return errors.New("more than one document")
	}
	return nil
}

// Validate reports every setting that makes no sense.
func (s *Settings) Validate() error {
	var errs []error
	add := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	for _, a := range []struct {
		name, value string
		off         bool
	}{
		{"otlp-grpc-addr", s.OTLPGRPCAddr, true},
		{"otlp-http-addr", s.OTLPHTTPAddr, true},
		{"http-addr", s.HTTPAddr, false},
		{"admin-addr", s.AdminAddr, true},
	} {
		if _, _, err := net.SplitHostPort(a.value); err != nil && !(a.off && a.value == Off) {
			add("%s: %q is not an address like 127.0.0.1:4319", a.name, a.value)
		}
	}
	for _, n := range []struct {
		name  string
		value int64
	}{
		{"max-runs", int64(s.MaxRuns)},
		{"max-sources", int64(s.MaxSources)},
		{"max-connections", int64(s.MaxConnections)},
		{"max-body-bytes", int64(s.MaxBodyBytes)},
		{"max-streams", int64(s.MaxStreams)},
		{"max-computing", int64(s.MaxComputing)},
		{"shutdown-timeout", int64(s.ShutdownTimeout)},
	} {
		if n.value <= 0 {
			add("%s: has to be more than 0", n.name)
		}
	}
	if s.MaxExportBytes < 1<<20 || s.MaxExportBytes > 64<<20 {
		add("max-export-bytes: %s is not within 1MiB and 64MiB", s.MaxExportBytes)
	}
	if s.MaxInFlightBytes < s.MaxExportBytes {
		add("max-in-flight-bytes: is below max-export-bytes")
	}
	if s.DataDir == "" {
		add("data-dir: is empty")
	}
	for _, u := range []struct{ name, value string }{{"alert-webhook", s.AlertWebhook}, {"external-url", s.ExternalURL}} {
		if parsed, err := url.Parse(u.value); u.value != "" && (err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https") {
			add("%s: is not a URL like http://127.0.0.1:9093/api/v2/alerts", u.name)
		}
	}
	if s.AlertForm != "alertmanager" && s.AlertForm != "json" {
		add("alert-form: %q is not alertmanager or json", s.AlertForm)
	}
	if (s.TLSCert == "") != (s.TLSKey == "") {
		add("tls-cert, tls-key: one is nothing without the other")
	}
	if s.LogFormat != "text" && s.LogFormat != "json" {
		add("log-format: %q is not text or json", s.LogFormat)
	}
	switch s.LogLevel {
	case "debug", "info", "warn", "error":
	default:
		add("log-level: %q is not debug, info, warn or error", s.LogLevel)
	}
	return errors.Join(errs...)
}

// ReadFile reads a small file whole.
func ReadFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("%s is larger than %d bytes", path, maxFile)
	}
	return data, nil
}

// Token returns the bearer token: from the file, else from PLIMSOLL_TOKEN.
func Token(file string, lookup func(string) (string, bool)) (string, error) {
	if file == "" {
		token, _ := lookup("PLIMSOLL_TOKEN")
		return token, nil
	}
	data, err := ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("read token: %w", err)
	}
	token := strings.TrimSpace(string(data))
	if token == "" || strings.ContainsAny(token, " \t\r\n") {
		return "", fmt.Errorf("read token: %s does not hold one word", file)
	}
	return token, nil
}
