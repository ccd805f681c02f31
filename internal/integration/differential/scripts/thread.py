import threading

t = threading.Thread(target=print, args=("in a thread",))
t.start()
t.join()
