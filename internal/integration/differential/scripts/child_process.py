def main():
    import subprocess

    print(subprocess.run(["echo", "child"], capture_output=True, text=True).stdout)


main()
