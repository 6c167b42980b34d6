"""A bound on the work of recovery: linear in the stream on any bytes."""

from __future__ import annotations

CANDIDATE = 1 << 12
"""Cost of trying one header, in bytes read at memory speed."""
CHAIN = 1 << 16
"""Cost of looking ahead over one more chain of records, in bytes."""

_ALLOWANCE = 1 << 26
_EARN = 4
_SHARE = 8
_SLOW_FLOOR = 1 << 18
_SLOW_GROWTH = 16
_SLOW_ALLOWANCE = 1 << 22
_SLOW_EARN = 8


class WorkBudget:
    """What recovery may still cost: allowances, and shares of the farthest offset that was reached.

    Four accounts, so that none starves another: `try_spend` pays for trying what may be a record, in bytes read and
    checked at memory speed; `charge` for what was read and was no intact record, so that intact ones are found however
    many they are; `charge_lookahead` for following chains of records, in bytes hopped over; `try_spend_slow` for bytes
    that Python touches one by one.
    """

    __slots__ = ("denied", "farthest", "looked", "risked", "slow", "spent")

    def __init__(self) -> None:
        self.farthest = 0
        self.denied = 0  # how often bytes were not searched one by one, since that could not be afforded
        self.spent = 0
        self.risked = 0
        self.looked = 0
        self.slow = 0

    def _limit(self) -> int:
        return _ALLOWANCE + _EARN * self.farthest

    def _slow_limit(self) -> int:
        return min(_SLOW_ALLOWANCE, _SLOW_FLOOR + _SLOW_GROWTH * self.farthest) + self.farthest // _SLOW_EARN

    def advance(self, offset: int) -> None:
        """Earn for the way to `offset`."""
        if offset > self.farthest:
            self.farthest = offset

    def try_spend(self, cost: int) -> bool:
        """Pay `cost` bytes if they can be afforded, and return whether they were."""
        if self.spent + cost > self._limit():
            return False
        self.spent += cost
        return True

    def refund(self, cost: int) -> None:
        """Return what was spent on a record that was found: the walk goes on behind it, so that happens once."""
        self.spent -= cost

    def charge(self, cost: int) -> None:
        """Pay for bytes read in vain, if need be on credit; ask `exhausted` before."""
        self.risked += cost

    @property
    def exhausted(self) -> bool:
        """Whether so much was read in vain that no record may be read that may be damaged."""
        return self.risked + CANDIDATE > self._limit()

    def charge_lookahead(self, cost: int) -> None:
        """Pay for bytes looked over, which `lookahead_limit` allowed before."""
        self.looked += cost

    def lookahead_limit(self) -> int:
        """How far one search may look ahead, in bytes: a share of what is left, so that later ones can look too."""
        return max(0, self._limit() - self.looked) // _SHARE

    def try_spend_slow(self, cost: int) -> bool:
        """Pay `cost` slow bytes if they can be afforded, and return whether they were."""
        if self.slow + cost > self._slow_limit():
            self.denied += 1
            return False
        self.slow += cost
        return True

    def refund_slow(self, cost: int) -> None:
        """Return slow bytes in which records were found: the walk goes on behind them."""
        self.slow -= cost
