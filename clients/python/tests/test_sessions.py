"""The contract about sessions, against a real server."""

import json
import time
import unittest

import sandbar
from tests import live


class Sessions(live.Case):
    def test_health(self) -> None:
        health = self.client.health()
        self.assertFalse(health.draining)
        self.assertIn(health.default_backend, health.backends)

    def test_open_close(self) -> None:
        session = self.open(label="é", idle_timeout=30, lifetime=60)
        info = session.info()
        self.assertEqual((info.session_id, info.label, info.idle_timeout), (session.session_id, "é", 30.0))
        self.assertEqual(info.network, "blocked")
        self.assertEqual(info.limits.memory_bytes, 512 << 20)
        self.assertIn("wasm", [tier.tier for tier in info.tiers])
        self.assertAlmostEqual((info.expires_at - info.created_at).total_seconds(), 60, delta=1)
        self.assertIn(session.session_id, [s.session_id for s in self.client.sessions()])
        session.renew()
        session.close()
        session.close()
        self.assertNotIn(session.session_id, [s.session_id for s in self.client.sessions()])
        with self.assertRaises(sandbar.Closed):
            session.run("1")

    def test_context_manager_closes_and_lets_errors_pass(self) -> None:
        with self.assertRaises(KeyError), self.client.session() as session:
            raise KeyError
        with self.assertRaises(sandbar.NotFound):
            self.client.attach({"name": session.session_id})

    def test_options_are_checked(self) -> None:
        for options in (
            {"limits": sandbar.Limits(memory_bytes=-1)},
            {"timeout": -1},
            {"label": "x" * 200},
            {"env": {"A=B": ""}},
            {"idle_timeout": sandbar.NO_TIMEOUT},
        ):
            with self.subTest(options), self.assertRaises(sandbar.SandbarError) as caught:
                self.client.session(**options).close()
            self.assertIsInstance(caught.exception, (sandbar.InvalidError, sandbar.Denied))
            if isinstance(caught.exception, sandbar.InvalidError):
                self.assertTrue(caught.exception.field)

    def test_a_backend_that_is_not_there(self) -> None:
        with self.assertRaises((sandbar.NotAvailable, sandbar.Denied)):
            self.client.session(backend="none such")

    @unittest.skipUnless(live.TOKEN, "SANDBAR_TEST_TOKEN is not set")
    def test_wrong_credentials(self) -> None:
        reference = self.open().reference()
        for token in (None, "wrong", live.TOKEN + "x", live.TOKEN[:-1]):
            with self.subTest(token is None), sandbar.Client(live.URL, token) as other:
                for call in (other.session, other.sessions, lambda: other.attach(reference), lambda: other.open_from("x")):
                    with self.assertRaises(sandbar.Unauthenticated) as caught:
                        call()
                    self.assertNotIn(live.TOKEN[:-1], str(caught.exception))

    def test_reference(self) -> None:
        owner = self.open()
        reference = json.dumps(owner.reference())
        self.assertEqual(
            set(json.loads(reference)), {"name", "endpoint", "created_at", "network_mode", "network_allowlist"}
        )
        with live.client() as other, other.attach(reference) as session:
            session.put_bytes("f", b"from the other one")
        with self.assertRaises(sandbar.Closed):
            session.get_bytes("f")
        self.assertEqual(owner.get_bytes("f"), b"from the other one")

    def test_unknown_and_closed_are_not_found(self) -> None:
        session = self.open()
        attached = self.client.attach(session.reference())
        session.close()
        for call in (
            lambda: attached.run("1"),
            lambda: attached.exec("1"),
            lambda: attached.put_bytes("f", b""),
            lambda: attached.put_bytes("f", b"x" * 3_000_000),
            lambda: attached.get_bytes("f"),
            lambda: attached.get_bytes("f", max_bytes=1),
            lambda: attached.list(),
            lambda: attached.diff(),
            lambda: attached.snapshot(),
            lambda: attached.info(),
            lambda: attached.renew(),
        ):
            with self.assertRaises(sandbar.NotFound):
                call()
        attached.close()

    def test_the_lease_is_renewed(self) -> None:
        session = self.open(idle_timeout=2)
        time.sleep(5)
        self.assertEqual(session.run_code("print(1)"), b"1\n")

    def test_without_renewal_the_server_closes_it(self) -> None:
        session = self.open(idle_timeout=1)
        session._lease.set()
        live.until(lambda: session.session_id not in [s.session_id for s in self.client.sessions()])
        with self.assertRaises(sandbar.NotFound):
            session.info()
        session.close()


if __name__ == "__main__":
    unittest.main()
