#!/usr/bin/env bash
# Runs the Grafana in GRAFANA_HOME on loopback with the data source, the
# dashboards, the alert rules and a server with runs. Ends with Ctrl-C.
set -euo pipefail
home=${1:?give the folder of a Grafana: make grafana-demo GRAFANA_HOME=...}
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
server=
finish() {
  if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; fi
  rm -rf "$work"
}
trap finish EXIT
mkdir -p "$work/plugins" "$work/data"
ln -s "$root/plugin/dist" "$work/plugins/plimsoll-loadtest-datasource"
export PLIMSOLL_URL=${PLIMSOLL_URL:-http://127.0.0.1:4319} PLIMSOLL_TOKEN=${PLIMSOLL_TOKEN:-}
if [ "$PLIMSOLL_URL" = http://127.0.0.1:4319 ]; then
  "$root/bin/plimsoll" serve --data-dir "$work/data/runs" &
  server=$!
  for _ in $(seq 50); do curl -fsS "$PLIMSOLL_URL/readyz" >/dev/null 2>&1 && break; sleep 0.2; done
  node "$root/plugin/e2e/runs.mjs" "$PLIMSOLL_URL" http://127.0.0.1:4318
fi
binary=$home/bin/grafana
for b in "$home"/bin/*/grafana; do if [ -x "$b" ]; then binary=$b; fi; done
export GF_PATHS_PLUGINS=$work/plugins GF_PATHS_DATA=$work/data GF_PATHS_LOGS=$work/logs
export GF_PATHS_PROVISIONING=$root/deploy/grafana/provisioning PLIMSOLL_DASHBOARDS=$root/dashboards
export GF_SERVER_HTTP_ADDR=127.0.0.1 GF_SERVER_HTTP_PORT=${GRAFANA_PORT:-3000}
export GF_PLUGINS_ALLOW_LOADING_UNSIGNED_PLUGINS=plimsoll-loadtest-datasource
export GF_AUTH_ANONYMOUS_ENABLED=true GF_AUTH_ANONYMOUS_ORG_ROLE=Admin GF_USERS_DEFAULT_THEME=light
export GF_ANALYTICS_REPORTING_ENABLED=false GF_ANALYTICS_CHECK_FOR_UPDATES=false GF_ANALYTICS_CHECK_FOR_PLUGIN_UPDATES=false
export GF_PLUGINS_PREINSTALL_DISABLED=true GF_NEWS_NEWS_FEED_ENABLED=false GF_LOG_LEVEL=${GF_LOG_LEVEL:-warn}
echo "Grafana on http://127.0.0.1:$GF_SERVER_HTTP_PORT, the run in http://127.0.0.1:$GF_SERVER_HTTP_PORT/d/plimsoll-run?var-run=checkout-before"
"$binary" server --homepath "$home"
