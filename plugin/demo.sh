#!/usr/bin/env bash
# Runs the Grafana in GRAFANA_HOME on loopback with the data source, the
# dashboards, the alert rules and a server that holds simulated runs and three
# captures of other generators. Then it runs the demonstration twice, before and
# after its fix: two live minutes. Ends with Ctrl-C. A server that runs already is
# shown as it is where PLIMSOLL_URL is given.
set -euo pipefail
home=${1:?give the folder of a Grafana: make grafana-demo GRAFANA_HOME=...}
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
started=()
finish() {
  for pid in "${started[@]}"; do kill -- "-$pid" 2>/dev/null || true; done
  wait
  rm -rf "$work"
}
trap finish EXIT
trap 'exit 0' INT TERM
# Starts a command in a process group of its own, to be ended with all that it starts.
begin() {
  set -m
  "$@" &
  started+=("$!")
  set +m
}
ready() {
  for _ in $(seq 600); do
    if curl -fsS "$1" >/dev/null 2>&1; then return; fi
    sleep 0.2
  done
  echo "$1 does not answer" >&2
  return 1
}
plimsoll=$root/bin/plimsoll
export PLIMSOLL_TOKEN=${PLIMSOLL_TOKEN:-}
if [ -z "${PLIMSOLL_URL:-}" ]; then
  export PLIMSOLL_HTTP_ADDR=${PLIMSOLL_HTTP_ADDR:-127.0.0.1:4319}
  export PLIMSOLL_OTLP_HTTP_ADDR=${PLIMSOLL_OTLP_HTTP_ADDR:-127.0.0.1:4318}
  export PLIMSOLL_OTLP_GRPC_ADDR=${PLIMSOLL_OTLP_GRPC_ADDR:-127.0.0.1:4317}
  PLIMSOLL_URL=http://$PLIMSOLL_HTTP_ADDR
  begin "$plimsoll" serve --data-dir "$work/data/runs"
  ready "$PLIMSOLL_URL/readyz"
  node "$root/plugin/e2e/runs.mjs" "$PLIMSOLL_URL" "http://$PLIMSOLL_OTLP_HTTP_ADDR"
  captures=$root/collector/importer/testdata
  "$plimsoll" import --server "$PLIMSOLL_URL" --run k6-overload --deadline 2s "$captures/k6/f-overload-return.json.zst"
  "$plimsoll" import --server "$PLIMSOLL_URL" --run vegeta-stall --deadline 500ms "$captures/vegeta/stall-100.json.zst"
  "$plimsoll" import --server "$PLIMSOLL_URL" --run jmeter-stall "$captures/jmeter/stall.jtl.zst"
fi
export PLIMSOLL_URL
binary=$home/bin/grafana
for b in "$home"/bin/*/grafana; do if [ -x "$b" ]; then binary=$b; fi; done
mkdir -p "$work/plugins" "$work/data"
ln -s "$root/plugin/dist" "$work/plugins/plimsoll-loadtest-datasource"
export GF_PATHS_PLUGINS=$work/plugins GF_PATHS_DATA=$work/data GF_PATHS_LOGS=$work/logs
export GF_PATHS_PROVISIONING=$root/deploy/grafana/provisioning PLIMSOLL_DASHBOARDS=$root/dashboards
export GF_SERVER_HTTP_ADDR=127.0.0.1 GF_SERVER_HTTP_PORT=${GRAFANA_PORT:-3000}
export GF_PLUGINS_ALLOW_LOADING_UNSIGNED_PLUGINS=plimsoll-loadtest-datasource
export GF_AUTH_ANONYMOUS_ENABLED=true GF_AUTH_ANONYMOUS_ORG_ROLE=Admin GF_USERS_DEFAULT_THEME=light
export GF_ANALYTICS_REPORTING_ENABLED=false GF_ANALYTICS_CHECK_FOR_UPDATES=false GF_ANALYTICS_CHECK_FOR_PLUGIN_UPDATES=false
export GF_PLUGINS_PREINSTALL_DISABLED=true GF_NEWS_NEWS_FEED_ENABLED=false GF_LOG_LEVEL=${GF_LOG_LEVEL:-warn}
grafana=http://127.0.0.1:$GF_SERVER_HTTP_PORT
begin "$binary" server --homepath "$home"
server=${started[-1]}
ready "$grafana/api/health"
echo "Grafana on $grafana, a run in $grafana/d/plimsoll-run?var-run=checkout-before"
if [ -n "${PLIMSOLL_OTLP_GRPC_ADDR:-}" ]; then
  echo "two minutes of demonstration, live: $grafana/d/plimsoll-live"
  demonstrate() {
    set +m
    unset PLIMSOLL_HTTP_ADDR # it would be that of another server
    "$plimsoll" demo --server "$PLIMSOLL_URL" --otlp "$PLIMSOLL_OTLP_GRPC_ADDR"
    "$plimsoll" demo --server "$PLIMSOLL_URL" --otlp "$PLIMSOLL_OTLP_GRPC_ADDR" --fixed
  }
  begin demonstrate >"$work/demo.log" 2>&1
fi
wait "$server"
