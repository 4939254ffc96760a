import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { SqlError } from "effect/sql"
import { TestClock } from "effect/testing"
import { translate } from "../../src/sql/SqlErrors.ts"

const reasons = {
  DeadlockError: SqlError.DeadlockError,
  SerializationError: SqlError.SerializationError,
  ConnectionError: SqlError.ConnectionError,
  UnknownError: SqlError.UnknownError
}

const sqlError = (tag: keyof typeof reasons | "UniqueViolation", code?: string, message: string = tag) => {
  const cause = Object.assign(new Error(message), { code })
  const reason =
    tag === "UniqueViolation" ? new SqlError.UniqueViolation({ cause, constraint: "c" }) : new reasons[tag]({ cause })
  return new SqlError.SqlError({ reason })
}

/** An effect that fails `times` times and then succeeds, and the number of its runs. */
const failing = (times: number, error: SqlError.SqlError) => {
  const counter = { runs: 0, effect: Effect.void as Effect.Effect<void, SqlError.SqlError> }
  counter.effect = Effect.suspend(() => (++counter.runs <= times ? Effect.fail(error) : Effect.void))
  return counter
}

const exitOf = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(Effect.exit(effect))
    yield* TestClock.adjust("1 hour")
    return yield* Fiber.join(fiber)
  })

describe("translate", () => {
  it.effect.each(["DeadlockError", "SerializationError"] as const)("retries after a %s, up to five times", (tag) =>
    Effect.gen(function* () {
      const five = failing(5, sqlError(tag))
      assert.strictEqual((yield* exitOf(translate(five.effect)))._tag, "Success")
      assert.strictEqual(five.runs, 6)
      const six = failing(6, sqlError(tag))
      const error = yield* Effect.flip(yield* exitOf(translate(six.effect)))
      assert.strictEqual(error._tag, "storage-unavailable")
      assert.strictEqual(six.runs, 6)
    })
  )

  it.effect.each([
    ["ConnectionError", undefined],
    ["UnknownError", "57P01"],
    ["UnknownError", "57P03"],
    ["UnknownError", "53300"],
    ["UnknownError", "53100"],
    ["UnknownError", "25006"],
    ["UnknownError", "58030"]
  ] as const)("fails with storage-unavailable for %s %s, without a retry", ([tag, code]) =>
    Effect.gen(function* () {
      const once = failing(1, sqlError(tag, code))
      const error = yield* Effect.flip(yield* exitOf(translate(once.effect)))
      assert.strictEqual(error._tag, "storage-unavailable")
      assert.strictEqual(once.runs, 1)
    })
  )

  it.effect.each([
    "SSL SYSCALL error: EOF detected",
    "server closed the connection unexpectedly",
    "could not commit transaction for shard 102008 on at least one active node",
    "failure on connection marked as essential: 127.0.0.1:5433"
  ])("fails with storage-unavailable where a node of a cluster is lost: %s", (message) =>
    Effect.gen(function* () {
      const once = failing(1, sqlError("UnknownError", "XX000", message))
      const error = yield* Effect.flip(yield* exitOf(translate(once.effect)))
      assert.strictEqual(error._tag, "storage-unavailable")
      assert.strictEqual(once.runs, 1)
    })
  )

  it.effect.each([
    ["UnknownError", "XX000"],
    ["UniqueViolation", "23505"]
  ] as const)("turns %s %s into a defect", ([tag, code]) =>
    Effect.gen(function* () {
      const exit = yield* exitOf(translate(failing(1, sqlError(tag, code)).effect))
      assert.isTrue(exit._tag === "Failure" && exit.cause.reasons[0]?._tag === "Die")
    })
  )

  it.effect("tells changed tables from a statement that distributed tables do not support", () =>
    Effect.gen(function* () {
      const unsupported = failing(2, sqlError("UnknownError", "0A000", "could not run distributed query"))
      const error = yield* Effect.flip(yield* exitOf(translate(unsupported.effect)))
      assert.strictEqual(error._tag, "storage-unavailable")
      const exit = yield* exitOf(translate(unsupported.effect, undefined, true))
      assert.isTrue(exit._tag === "Failure" && exit.cause.reasons[0]?._tag === "Die")
      const changed = failing(1, sqlError("UnknownError", "0A000", "cached plan must not change result type"))
      const unavailable = yield* Effect.flip(yield* exitOf(translate(changed.effect, undefined, true)))
      assert.strictEqual(unavailable._tag, "storage-unavailable")
    })
  )

  it.effect("fails with storage-unavailable if the rollback failed too", () =>
    Effect.gen(function* () {
      const died = Effect.die(sqlError("ConnectionError"))
      const error = yield* Effect.flip(yield* exitOf(translate(died)))
      assert.strictEqual(error._tag, "storage-unavailable")
    })
  )

  it.effect("leaves other errors and defects unchanged", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* Effect.flip(translate(Effect.fail("not found"))), "not found")
      const exit = yield* Effect.exit(translate(Effect.die("a defect")))
      assert.isTrue(exit._tag === "Failure" && exit.cause.reasons[0]?._tag === "Die")
    })
  )

  it.effect("fails with storage-unavailable at the timeout", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(yield* exitOf(translate(Effect.never, 1_000)))
      assert.strictEqual(error._tag, "storage-unavailable")
    })
  )
})
