package daemon

import (
	"net"
	"net/http"
	"net/url"
	"strings"
)

// ownHost lets calls through that were addressed to this machine. On loopback, and
// without a token, a web page of a stranger could otherwise have its name resolve
// to this machine and read what is kept here through the browser of its visitor.
func (d *Daemon) ownHost(next http.Handler) http.Handler {
	host, _, err := net.SplitHostPort(d.cfg.HTTPAddr)
	if err != nil || d.cfg.Token != "" || host != "localhost" && !net.ParseIP(host).IsLoopback() {
		return next
	}
	external := ""
	if u, err := url.Parse(d.cfg.ExternalURL); err == nil {
		external = u.Hostname()
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.Host
		if h, _, err := net.SplitHostPort(name); err == nil {
			name = h
		}
		name = strings.ToLower(strings.Trim(strings.TrimSuffix(name, "."), "[]"))
		if name == "" || name == "localhost" || strings.HasSuffix(name, ".localhost") || net.ParseIP(name) != nil || name == strings.ToLower(external) {
			next.ServeHTTP(w, r)
			return
		}
		http.Error(w, `{"error":"this server is for its own machine","code":"foreign_host","hint":"call it by localhost or an address, or set external_url to the name that a proxy passes on"}`,
			http.StatusForbidden)
	})
}
