package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// File is what one Go file says about its dependencies.
type File struct {
	Path    string   // relative to the root of the module, with slashes
	Test    bool     // the name ends in _test.go
	Imports []string // import paths, in the order of the file
	Calls   []string // package-qualified names used, such as "time.Now"
}

// Dir returns the folder of the file, "." for the root.
func (f File) Dir() string { return path.Dir(f.Path) }

// skipped are folders that hold no source of the module.
var skipped = map[string]bool{
	".git": true, "node_modules": true, "testdata": true, "bin": true, "dist": true, "data": true,
}

// Load parses every Go file of the module below root, folders of other modules
// left out.
func Load(root string) ([]File, error) {
	var files []File
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name == root {
				return nil
			}
			if skipped[entry.Name()] || isModule(name) {
				return filepath.SkipDir
			}
			return nil
		}
		if filepath.Ext(name) != ".go" {
			return nil
		}
		file, err := parse(root, name)
		if err != nil {
			return err
		}
		files = append(files, file)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read source tree: %w", err)
	}
	return files, nil
}

func isModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

func parse(root, name string) (File, error) {
	rel, err := filepath.Rel(root, name)
	if err != nil {
		return File{}, err
	}
	tree, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
	if err != nil {
		return File{}, err
	}
	file := File{Path: filepath.ToSlash(rel), Test: strings.HasSuffix(name, "_test.go")}
	local := map[string]string{} // name in this file -> import path
	for _, spec := range tree.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return File{}, fmt.Errorf("%s: import %s: %w", rel, spec.Path.Value, err)
		}
		file.Imports = append(file.Imports, imported)
		if spec.Name != nil {
			local[spec.Name.Name] = imported
		} else {
			local[baseName(imported)] = imported
		}
	}
	ast.Inspect(tree, func(node ast.Node) bool {
		selector, ok := node.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if ident, ok := selector.X.(*ast.Ident); ok && local[ident.Name] != "" {
			file.Calls = append(file.Calls, local[ident.Name]+"."+selector.Sel.Name)
		}
		return true
	})
	return file, nil
}

// baseName is the name that an import is likely to have: its last element, a
// major version passed over.
func baseName(imported string) string {
	base := path.Base(imported)
	if len(base) > 1 && base[0] == 'v' && strings.Trim(base[1:], "0123456789") == "" {
		return path.Base(path.Dir(imported))
	}
	return base
}
