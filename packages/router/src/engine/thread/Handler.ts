/** Hands exchanges to the threads. */
import { Errors } from "@tachograph/core"
import * as Effect from "effect/Effect"
import { type Exchange, ReserveAnswer } from "../../Engine.ts"
import type * as Answer from "../../response/Answer.ts"
import * as ErrorAnswer from "../../response/ErrorAnswer.ts"
import type { EngineThread } from "./EngineThread.ts"
import { isEventRead, isForReader, isLongRead, isProbablyLong } from "./LongReads.ts"
import { referenceOf } from "./Spans.ts"
import { type Supervisor, ThreadDown } from "./Supervisor.ts"

const unavailable = ErrorAnswer.of(new Errors.StorageUnavailable({ cause: undefined }))!

const lost: Answer.Answer = { ...unavailable, refusal: { ...unavailable.refusal!, isOfDeath: true } }

/** Credentials for this server stay on the thread of the host. */
const secretHeaders: ReadonlySet<string> = new Set(["authorization", "cookie", "proxy-authorization"])

const withoutSecrets = (headers: Exchange["headers"]): Exchange["headers"] => {
  const kept: Record<string, string> = {}
  for (const name in headers) {
    const value = headers[name]
    if (value !== undefined && !secretHeaders.has(name)) kept[name] = value
  }
  return kept
}

/** `reader` answers the reads that `LongReads` says, if there is one and its thread can be started; `engine` everything else. */
export const make = Effect.fnUntraced(function* (engine: Supervisor, reader: Supervisor | undefined) {
  const run = Effect.runPromiseWith(yield* Effect.context<never>())
  /** The size of the last event that was answered. */
  let lastEventBytes = 0
  return (exchange: Exchange): Effect.Effect<Answer.Answer> =>
    Effect.withFiber((fiber) => {
      const reserve = fiber.getRef(ReserveAnswer)
      const { span } = fiber.cache
      return Effect.callback<Answer.Answer>((resume) => {
        const sent = {
          ...exchange,
          headers: withoutSecrets(exchange.headers),
          arrivedAtMs: performance.timeOrigin + exchange.arrivedAtMs
        }
        let isGivenUp = false
        let giveUp = () => {}
        const answer = (given: Answer.Answer) => resume(Effect.succeed(given))

        /** What is reserved for an event is its size, or that of its answer. */
        let reservedBytes = 0
        const send = (thread: EngineThread, onReserve: (bytes: number) => Promise<boolean>) => {
          giveUp = thread.exchange(sent, span && referenceOf(span), {
            onAnswer: (given) => {
              if (isEventRead(exchange) && given.status < 300) lastEventBytes = reservedBytes
              answer(given)
            },
            onReserve: (bytes) => {
              reservedBytes = Math.max(bytes, reservedBytes)
              return onReserve(bytes)
            },
            onLost: () => answer(lost)
          })
        }
        const reserveHere = (bytes: number) => run(reserve(bytes))

        const toEngine = (onReserve: (bytes: number) => Promise<boolean>) => {
          if (engine.thread === undefined) return answer(unavailable)
          return send(engine.thread, onReserve)
        }
        const toReader = async ({ start }: Supervisor) => {
          try {
            const thread = await start()
            if (!isGivenUp) send(thread, reserveHere)
          } catch (error) {
            if (isGivenUp) return
            // What has ended the reading thread must not end the other one.
            if (error instanceof ThreadDown) return answer(unavailable)
            toEngine(reserveHere)
          }
        }

        // Starts while the browser loads the page, whose first reads would wait for it.
        if (exchange.endpoint === "viewer") reader?.start().catch(() => {})

        // A file of SQLite is not opened for reading while nothing holds it open for writing.
        if (engine.thread === undefined) return answer(unavailable)
        if (reader === undefined) toEngine(reserveHere)
        else if (isLongRead(exchange) || isProbablyLong(exchange, lastEventBytes, reader.thread)) void toReader(reader)
        // Without `start`: only long reads keep the thread from ending.
        else if (reader.thread !== undefined && isForReader(exchange, reader.thread, engine.thread)) {
          send(reader.thread, reserveHere)
        } else {
          toEngine(async (bytes) => {
            if (!isLongRead(exchange, bytes)) return reserveHere(bytes)
            giveUp()
            await toReader(reader)
            return false
          })
        }
        return Effect.sync(() => {
          isGivenUp = true
          giveUp()
        })
      })
    })
})
