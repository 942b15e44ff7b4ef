package archtest

// Module is the path of this module.
const Module = "github.com/plimsoll/plimsoll"

// impure are the parts of analysis that may do I/O; every other package of
// analysis is pure, new ones included.
func impure() []string {
	return []string{"analysis/api", "analysis/report", "analysis/alert", "analysis/outward"}
}

// Rules returns the arrows of the architecture.
func Rules() []Rule {
	return append(layers(), details()...)
}

// layers are the arrows between the top-level folders.
func layers() []Rule {
	return []Rule{
		{
			Name: "analysis knows nothing of intake, commands or the demo",
			Why: "a verdict must be the same whichever way the rows came and wherever they are kept; " +
				"declare the interface you need beside its consumer and let cmd/plimsoll join the two",
			From:  []string{"analysis"},
			Tests: true,
			Ban:   []string{"collector", "cmd", "demo", "plugin", "internal/bench"},
		},
		{
			Name: "intake knows the vocabulary of rows and no judgement",
			Why: "what is kept is evidence, not interpretation: a judgement that leaked into intake could not be " +
				"recomputed from the journal. Only collector/runs goes further: it satisfies fold.Evidence, which " +
				"speaks of declarations and marks in the wire types",
			From:   []string{"collector"},
			Except: []string{"collector/runs"},
			Ban:    []string{"."},
			Free:   []string{"collector", "analysis/sample"},
		},
		{
			Name: "collector/runs may use fold.Evidence and the wire types, and nothing else of analysis",
			Why: "the catalogue is how the fold reads a run: it needs the interface and the declaration that it hands " +
				"over. Any other package of analysis here would be a judgement made at intake",
			From: []string{"collector/runs"},
			Ban:  []string{"."},
			Free: []string{"collector", "analysis/sample", "analysis/api/wire", "analysis/fold"},
		},
		{
			Name: "nothing builds on a command, the demo or the benchmarks",
			Why:  "they are ends of the graph: wiring and examples. What two of them share belongs in a package of its own",
			Except: []string{
				"cmd", "demo", "internal/bench", "internal/checkout", "internal/simrun",
			},
			Tests: true,
			Ban:   []string{"cmd", "demo", "internal/bench", "internal/checkout", "internal/simrun"},
		},
		{
			Name:  "the plugin knows only the wire types",
			Why:   "it talks to a server over HTTP and must build and be released without the server's code",
			From:  []string{"plugin"},
			Tests: true,
			Ban:   []string{"."},
			Free:  []string{"plugin", "analysis/api/wire"},
		},
		{
			Name: "the generator helpers stand alone",
			Why:  "people import collector/loadtest into their own generators; it must not bring a server along",
			From: []string{"collector/loadtest"},
			Ban:  []string{"."},
			Free: []string{"collector/loadtest"},
		},
	}
}

// details are bans that hold inside a layer.
func details() []Rule {
	return []Rule{
		{
			Name: "pure packages of analysis import each other, the wire types and the standard library",
			Why: "they are functions of a snapshot: no I/O and no foreign types, so that a verdict can be recomputed " +
				"bit for bit, tested against closed forms and read without knowing a framework",
			From:   []string{"analysis"},
			Except: impure(),
			Only:   []string{"std", "analysis"},
			Ban: append(impure(),
				"net", "os", "io/fs", "io/ioutil", "path/filepath", "syscall", "log", "log/slog",
				"database/sql", "plugin", "testing"),
			Free: []string{"analysis/api/wire"},
		},
		{
			Name: "the row vocabulary and the wire types depend on the standard library alone",
			Why:  "every other package builds on them, the plugin and other people's programs included",
			From: []string{"analysis/sample", "analysis/api/wire"},
			Only: []string{"std"},
			Ban:  []string{"net", "os"},
		},
		{
			Name:   "net/http in analysis only where HTTP is served or an alert is posted",
			Why:    "reports and judgements are made from values; a handler turns them into responses",
			From:   []string{"analysis"},
			Except: []string{"analysis/api", "analysis/alert"},
			Ban:    []string{"net/http"},
		},
		adapter("otlp", "influx", "importer"),
		adapter("influx", "otlp", "importer"),
		adapter("importer", "otlp", "influx"),
		{
			Name:   "Pebble is used in its engine package alone",
			Why:    "another engine must be able to take its place behind journal.Log without a change elsewhere",
			Except: []string{"collector/journal/pebble"},
			Tests:  true,
			Ban:    []string{"github.com/cockroachdb/pebble"},
		},
		{
			Name:   "pdata is used in tests alone",
			Why:    "it is the oracle of the lazy decoder; in the intake path it costs several times the processor time",
			Ban:    []string{"go.opentelemetry.io/collector"},
			Except: []string{"internal/bench"},
		},
		{
			Name:   "time and environment come in as values",
			Why:    "everything is event time; a hidden clock or variable makes a run impossible to repeat. Take a now func() time.Time",
			Except: []string{"cmd", "demo", "internal/bench", "plugin"},
			Call:   []string{"time.Now", "time.Since", "time.Until", "os.Getenv", "os.LookupEnv", "os.Environ"},
		},
		{
			Name:   "randomness comes in as a value",
			Why:    "a simulation or a back-off that cannot be given a seed cannot be repeated; take a *rand.Rand",
			Except: []string{"cmd", "demo", "internal/bench", "plugin"},
			Call:   globalRand(),
		},
		{
			Name: "only commands end the process",
			Why: "whoever called must be able to keep what was acknowledged before the end; return an error. Only the " +
				"engine of the journal may stop the process where going on would damage what it keeps",
			Except: []string{"cmd", "demo", "internal/bench", "internal/checkout", "internal/simrun", "plugin", "collector/journal/pebble"},
			Call:   []string{"os.Exit", "log.Fatal", "log.Fatalf", "log.Fatalln", "log.Panic", "log.Panicf"},
		},
	}
}

func adapter(name string, others ...string) Rule {
	rule := Rule{
		Name: "intake adapters do not know each other: " + name,
		Why:  "a format can then be added, fixed or removed alone; what two adapters share belongs in collector/convention or collector/batch",
		From: []string{"collector/" + name},
	}
	for _, other := range others {
		rule.Ban = append(rule.Ban, "collector/"+other)
	}
	return rule
}

// globalRand names the functions that draw from the generator of the process.
func globalRand() []string {
	var names []string
	for _, name := range []string{
		"Int", "IntN", "Int32", "Int32N", "Int64", "Int64N", "N", "Uint32", "Uint32N", "Uint64", "Uint64N",
		"Float32", "Float64", "NormFloat64", "ExpFloat64", "Perm", "Shuffle",
	} {
		names = append(names, "math/rand/v2."+name)
	}
	return names
}
