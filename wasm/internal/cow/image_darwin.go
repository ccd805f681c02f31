package cow

import "os"

// anonymousFile is a temporary file whose name is removed at once.
func anonymousFile() (*os.File, error) {
	f, err := os.CreateTemp("", "sandbar-image-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func seal(*os.File) error { return nil }
