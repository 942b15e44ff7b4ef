package archtest

import (
	"fmt"
	"slices"
	"strings"
)

// Rule is one ban. A pattern is a path that stands for itself and everything
// below it; folders are relative to the root of the module, and so are imports
// of the module itself. The patterns "std" and "others" stand for the whole
// standard library and for every module but this one.
type Rule struct {
	Name   string   // short, for messages
	Why    string   // the reason, shown with every breach
	From   []string // folders that the rule is about; empty means all
	Except []string // folders that it spares
	Tests  bool     // whether it also holds for test files

	Only []string // imports that are allowed; everything else is banned
	Ban  []string // imports that are banned, also when Only allows them
	Free []string // imports that Ban spares
	Call []string // qualified names that are banned, such as "time.Now"
}

// Breach is one place where a rule is broken.
type Breach struct {
	File, Uses string
	Rule       *Rule
}

// String says what is wrong, where, and why it is banned.
func (b Breach) String() string {
	return fmt.Sprintf("%s uses %s\n\trule: %s\n\twhy:  %s", b.File, b.Uses, b.Rule.Name, b.Rule.Why)
}

// Check holds files against rules. Module is the path of the module.
func Check(module string, files []File, rules []Rule) []Breach {
	var breaches []Breach
	for i := range rules {
		rule := &rules[i]
		for _, file := range files {
			if file.Test && !rule.Tests || !rule.covers(file.Dir()) {
				continue
			}
			for _, imported := range file.Imports {
				if rule.bans(module, imported) {
					breaches = append(breaches, Breach{file.Path, imported, rule})
				}
			}
			for _, call := range file.Calls {
				if slices.Contains(rule.Call, call) {
					breaches = append(breaches, Breach{file.Path, call, rule})
				}
			}
		}
	}
	return breaches
}

func (r *Rule) covers(dir string) bool {
	return (len(r.From) == 0 || below(dir, r.From)) && !below(dir, r.Except)
}

func (r *Rule) bans(module, imported string) bool {
	match := func(patterns []string) bool { return matches(module, imported, patterns) }
	if match(r.Ban) && !match(r.Free) {
		return true
	}
	return len(r.Only) > 0 && !match(r.Only)
}

// matches reports whether an import falls under one of the patterns.
func matches(module, imported string, patterns []string) bool {
	local, ours := relative(module, imported)
	first, _, _ := strings.Cut(imported, "/")
	std := !ours && !strings.Contains(first, ".")
	for _, pattern := range patterns {
		switch {
		case pattern == "std":
			if std {
				return true
			}
		case pattern == "others":
			if !ours && !std {
				return true
			}
		case pattern == ".":
			if ours {
				return true
			}
		case below(local, []string{pattern}):
			return true
		}
	}
	return false
}

func relative(module, imported string) (string, bool) {
	if imported == module {
		return ".", true
	}
	if local, ok := strings.CutPrefix(imported, module+"/"); ok {
		return local, true
	}
	return imported, false
}

func below(dir string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		return dir == pattern || strings.HasPrefix(dir, pattern+"/")
	})
}
