// Command pack puts what was built of the plugin into the archive that a
// catalogue takes: one folder named after the id, executable backends, and the
// list of hashes of the backend's source files. The same files give the same
// archive, byte for byte.
package main

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const manifest = "go_plugin_build_manifest"

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: pack PLUGIN-FOLDER OUT-FOLDER")
		os.Exit(2) //nolint:forbidigo // this is a command
	}
	name, err := pack(os.Args[1], os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1) //nolint:forbidigo // this is a command
	}
	fmt.Fprintln(os.Stdout, name)
}

// pack writes the archive of a plugin folder and returns its name.
func pack(plugin, out string) (name string, err error) {
	dist := filepath.Join(plugin, "dist")
	id, version, err := about(filepath.Join(dist, "plugin.json"))
	if err != nil {
		return "", err
	}
	if err := hashSources(plugin, filepath.Join(dist, manifest)); err != nil {
		return "", err
	}
	if err := os.MkdirAll(out, 0o750); err != nil { //nolint:gosec // the caller says where
		return "", fmt.Errorf("make folder: %w", err)
	}
	name = filepath.Join(out, id+"-"+version+".zip")
	file, err := os.Create(name) //nolint:gosec // the caller says where
	if err != nil {
		return "", fmt.Errorf("make archive: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	archive := zip.NewWriter(file)
	err = filepath.WalkDir(dist, func(path string, entry fs.DirEntry, err error) error { //nolint:gosec // the caller says where
		if err != nil || entry.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dist, path)
		if err != nil {
			return err
		}
		return add(archive, path, id+"/"+filepath.ToSlash(rel))
	})
	if err != nil {
		return "", fmt.Errorf("fill archive: %w", err)
	}
	return name, archive.Close()
}

// about reads the id and the version of a built plugin.
func about(path string) (id, version string, err error) {
	data, err := os.ReadFile(path) //nolint:gosec // the caller says where
	if err != nil {
		return "", "", fmt.Errorf("read plugin.json: %w (run make plugin first)", err)
	}
	var p struct {
		ID   string `json:"id"`
		Info struct {
			Version string `json:"version"`
		} `json:"info"`
	}
	if err := json.Unmarshal(data, &p); err != nil {
		return "", "", fmt.Errorf("read plugin.json: %w", err)
	}
	if p.ID == "" || p.Info.Version == "" || strings.ContainsAny(p.ID+p.Info.Version, `/\%`) {
		return "", "", errors.New("plugin.json lacks id or version")
	}
	return p.ID, p.Info.Version, nil
}

func add(archive *zip.Writer, path, name string) error {
	header := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	mode := fs.FileMode(0o644)
	if strings.HasPrefix(filepath.Base(name), "gpx_") {
		mode = 0o755
	}
	header.SetMode(mode)
	w, err := archive.CreateHeader(header)
	if err != nil {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, file)
	return errors.Join(err, file.Close())
}

// hashSources writes the hash and name of each Go file below the plugin's folder,
// as the catalogue's validator looks for them: it follows links to folders.
func hashSources(plugin, to string) error {
	names, err := goFiles(plugin, "")
	if err != nil {
		return fmt.Errorf("find sources: %w", err)
	}
	var lines strings.Builder
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(plugin, name)) //nolint:gosec // found by walking
		if err != nil {
			return fmt.Errorf("hash sources: %w", err)
		}
		sum := sha256.Sum256(data)
		fmt.Fprintf(&lines, "%s:%s\n", hex.EncodeToString(sum[:]), name)
	}
	return os.WriteFile(to, []byte(lines.String()), 0o644) //nolint:gosec // everybody may read the archive
}

// goFiles lists the Go files of a folder below root, in order, with slashes.
// What was built or downloaded is no source.
func goFiles(root, folder string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(root, folder))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, entry := range entries {
		name := filepath.ToSlash(filepath.Join(folder, entry.Name()))
		info, err := os.Stat(filepath.Join(root, name)) //nolint:gosec // a name that was found below root
		if err != nil {
			return nil, err
		}
		switch {
		case name == "dist" || entry.Name() == "node_modules":
		case info.IsDir():
			below, err := goFiles(root, name)
			if err != nil {
				return nil, err
			}
			names = append(names, below...)
		case filepath.Ext(name) == ".go":
			names = append(names, name)
		}
	}
	return names, nil
}
