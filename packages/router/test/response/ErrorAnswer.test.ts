import { ForbiddenError, PayloadTooLargeError, ValidationFailure } from "@tachograph/api"
import { Damage, Errors, UnfinishedErasure } from "@tachograph/core"
import { Cause, Effect, Exit, Fiber, Layer, Logger, References } from "effect"
import { TestClock } from "effect/testing"
import { describe, expect, it } from "vitest"
import * as ErrorAnswer from "../../src/response/ErrorAnswer.ts"

interface Line {
  readonly level: string
  readonly message: unknown
  readonly annotations: Readonly<Record<string, unknown>>
  readonly cause: string
}

/** Runs with a test clock, and returns the result with the lines that were logged. */
const logged = async <A>(effect: Effect.Effect<A>) => {
  const lines: Array<Line> = []
  const logger = Logger.make<unknown, void>(({ cause, fiber, logLevel, message }) => {
    const annotations = fiber.getRef(References.CurrentLogAnnotations)
    lines.push({ level: logLevel, message: [message].flat()[0], annotations, cause: Cause.pretty(cause) })
  })
  const result = await Effect.runPromise(Effect.provide(effect, Layer.merge(TestClock.layer(), Logger.layer([logger]))))
  return { result, lines }
}

const unavailable = (message: string) => Effect.fail(new Errors.StorageUnavailable({ cause: new Error(message) }))

describe("ErrorAnswer.of", () => {
  // A damaged event has another field.
  const { EventDamaged, ...errors } = Errors
  const classes = { ...errors, ForbiddenError, PayloadTooLargeError } as unknown as Readonly<
    Record<string, new (fields: object) => { readonly _tag: string }>
  >
  const documented: Readonly<Record<string, number>> = {
    "agent-not-found": 404,
    "agent-version-not-found": 404,
    "checksum-differs": 422,
    "event-id-invalid": 422,
    "event-id-taken": 422,
    "event-not-found": 404,
    "fingerprint-id-taken": 422,
    "fingerprint-not-found": 404,
    "idempotency-key-reused": 422,
    overloaded: 503,
    "person-not-found": 404,
    "session-id-empty": 422,
    "session-not-found": 404,
    "shared-text-damaged": 500,
    "shared-text-not-found": 404,
    "storage-unavailable": 503,
    forbidden: 403,
    "payload-too-large": 413
  }

  it("answers each error with the status and the type of its class, and with no other field", () => {
    const answers = Object.values(classes).map((Class) => ErrorAnswer.of(new Class({ cause: new Error("secret") })))
    expect(Object.fromEntries(answers.map((answer) => [answer!.refusal!.type, answer!.status]))).toEqual(documented)
    for (const answer of answers) expect(JSON.parse(String(answer!.body))).toEqual({ type: answer!.refusal!.type })
  })

  it("says which event is damaged", () => {
    const answer = ErrorAnswer.of(new EventDamaged({ eventId: "e" }))
    expect([answer?.status, String(answer?.body)]).toEqual([500, '{"type":"event-damaged","event_id":"e"}'])
  })

  it("says what to do where the storage is damaged, and nothing of the reason", () => {
    const answer = ErrorAnswer.of(new Errors.StorageUnavailable({ cause: new Damage("secret") }))!
    const { message, ...rest } = JSON.parse(String(answer.body))
    expect([answer.status, rest]).toEqual([503, { type: "storage-unavailable" }])
    expect(message).toContain("tachograph verify")
    expect(message).not.toContain("secret")
  })

  it("says how much of an erasure is done, and nothing of the reason", () => {
    const cause = new UnfinishedErasure(7, new Error("secret"))
    const answer = ErrorAnswer.of(new Errors.StorageUnavailable({ cause }))!
    expect(answer.status).toBe(503)
    expect(JSON.parse(String(answer.body))).toEqual({ type: "storage-unavailable", message: cause.message })
    expect(cause.message).toMatch(/for certain: 7;/)
    expect(cause.message).not.toContain("secret")
  })

  it("answers a validation failure with its detail", () => {
    const detail = [{ type: "missing", loc: ["body"], msg: "Field required", input: null }]
    expect(ErrorAnswer.of(new ValidationFailure({ detail }))).toEqual({
      status: 422,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ detail }),
      refusal: { type: "validation-error", detail }
    })
  })

  it.each([undefined, null, "overloaded", { _tag: "overloaded" }, new Error("overloaded")])(
    "returns undefined for %s, which is no expected error",
    (error) => expect(ErrorAnswer.of(error)).toBeUndefined()
  )
})

describe("ErrorAnswer.make", () => {
  it("leaves an answer as it is", async () => {
    const answer = { status: 200, headers: {}, body: "" }
    expect(await logged(ErrorAnswer.make()(Effect.succeed(answer), "id"))).toEqual({ result: answer, lines: [] })
  })

  it("answers an expected error, and logs nothing", async () => {
    const { lines, result } = await logged(ErrorAnswer.make()(Effect.fail(new Errors.Overloaded()), "id"))
    expect([result.status, lines]).toEqual([503, []])
  })

  it.each([
    ["a defect", Effect.die(new Error("planted"))],
    ["an unknown error", Effect.fail(new Error("planted"))]
  ])("answers %s 500 with the request's id, and logs its cause", async (_, failing) => {
    const { lines, result } = await logged(ErrorAnswer.make()(failing, "the id"))
    expect([result.status, JSON.parse(String(result.body))]).toEqual([500, { type: "internal", id: "the id" }])
    expect(lines).toMatchObject([{ level: "Error", message: "A request failed unexpectedly" }])
    expect(lines[0]!.cause).toContain("planted")
  })

  it("passes an interruption on", async () => {
    const { lines, result } = await logged(
      Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(ErrorAnswer.make()(Effect.never, "id"), { startImmediately: true })
        yield* Fiber.interrupt(fiber)
        return yield* Fiber.await(fiber)
      })
    )
    expect([Exit.isFailure(result) && Cause.hasInterruptsOnly(result.cause), lines]).toEqual([true, []])
  })

  it("logs an outage at most once a second, and counts the failures in between", async () => {
    const answerErrors = ErrorAnswer.make()
    const fail = (message: string) => answerErrors(unavailable(message), "id")
    const { lines } = await logged(
      Effect.gen(function* () {
        yield* fail("first")
        yield* fail("second")
        yield* TestClock.adjust(999)
        yield* fail("third")
        yield* TestClock.adjust(1)
        yield* fail("fourth")
      })
    )
    expect(lines).toMatchObject([
      { level: "Warn", message: "The storage is unavailable", annotations: { failures_not_logged: 0 } },
      { level: "Warn", message: "The storage is unavailable", annotations: { failures_not_logged: 2 } }
    ])
    expect(lines.map(({ cause }) => cause)).toEqual(["Error: first", "Error: fourth"])
  })

  it("shares no limit of the log between two instances", async () => {
    const { lines, result } = await logged(
      Effect.all([ErrorAnswer.make()(unavailable("one"), "id"), ErrorAnswer.make()(unavailable("two"), "id")])
    )
    expect(result.map(({ status }) => status)).toEqual([503, 503])
    expect(lines).toHaveLength(2)
  })
})
