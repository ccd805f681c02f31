package daemon

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"
)

// maxFile is the size of the largest configuration that is read, in bytes.
const maxFile = 1 << 20

// readFile sets the flags that the command line does not have from a YAML file, whose keys are the names of the flags. Lists may be
// written as one value. It returns where each key stands. Errors are *ValueError, or name the file.
func readFile(path string, fs *pflag.FlagSet) (map[string]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = errors.New("is too large")
	}
	if err != nil {
		return nil, fmt.Errorf("read configuration %s: %w", path, err)
	}
	entries, err := mapping(text)
	if err != nil {
		return nil, fmt.Errorf("read configuration %s: %w", path, err)
	}
	places := map[string]string{}
	for i := 0; i+1 < len(entries); i += 2 {
		key, value := entries[i], entries[i+1]
		place := fmt.Sprintf("%s: line %d", path, key.Line)
		if err := setKey(fs, key, value, places); err != nil {
			return nil, &ValueError{place, key.Value, err.Error()}
		}
		places[key.Value] = place
	}
	maps.DeleteFunc(places, func(key, _ string) bool { return fs.Changed(key) })
	return places, nil
}

// mapping parses a document that is one mapping, and gives its keys and values in turn.
func mapping(text []byte) ([]*yaml.Node, error) {
	d := yaml.NewDecoder(bytes.NewReader(text))
	var doc yaml.Node
	if err := d.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, nil // it is empty
	} else if err != nil {
		return nil, err
	}
	// A second document would be ignored, and with it what its author meant to say.
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, errors.New("has more than one document")
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("line %d: is not a list of keys with their values", root.Line)
	}
	return root.Content, nil
}

// notKeys are flags that a file cannot set.
var notKeys = map[string]bool{flagConfig: true, "help": true, "version": true}

// setKey sets one flag. Seen has the keys that were there before.
func setKey(fs *pflag.FlagSet, key, value *yaml.Node, seen map[string]string) error {
	flag := fs.Lookup(key.Value)
	if key.Kind != yaml.ScalarNode || flag == nil || notKeys[key.Value] {
		return errors.New("there is no such key")
	}
	if _, ok := seen[key.Value]; ok {
		return errors.New("is there already")
	}
	values, err := scalars(value)
	if err != nil {
		return err
	}
	if flag.Changed { // the command line wins
		return nil
	}
	if list, ok := flag.Value.(pflag.SliceValue); ok {
		return list.Replace(values)
	}
	if value.Kind != yaml.ScalarNode {
		return errors.New("is a list, and one value is needed")
	}
	if err := flag.Value.Set(values[0]); err != nil {
		return fmt.Errorf("%q %w", values[0], plain(err))
	}
	return nil
}

// plain leaves the name of a function out of the errors of package strconv.
func plain(err error) error {
	if inner := errors.Unwrap(err); inner != nil {
		return inner
	}
	return err
}

// scalars are the values of a scalar, or of a list of them.
func scalars(n *yaml.Node) ([]string, error) {
	nodes := []*yaml.Node{n}
	switch n.Kind {
	case yaml.SequenceNode:
		nodes = n.Content
	case yaml.ScalarNode:
	default:
		return nil, errors.New("is neither a value nor a list of values")
	}
	values := make([]string, 0, len(nodes))
	for _, v := range nodes {
		if v.Kind != yaml.ScalarNode || v.Tag == "!!null" {
			return nil, fmt.Errorf("has no value in line %d", v.Line)
		}
		values = append(values, v.Value)
	}
	return values, nil
}
