/** Exports and imports of any length, over an `Access`: an export that is cut is continued, and an import is sent in short requests. */
import type { Operations } from "@tachograph/client/api"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { CommandError } from "../terminal/CliErrors.ts"
import * as Table from "../terminal/Table.ts"
import type { Access } from "./Access.ts"
import type { LineCutter } from "./LineCutter.ts"
import * as Refusal from "./Refusal.ts"

/** How often in a row an answer may be cut without anything new in it. */
const maxCuts = 5

/** The pause before the next try (s): half a minute together, in which a server starts again. */
const pauseAfter = (cuts: number): Duration.Input => `${2 ** cuts} seconds`

/** Lines of an import that one request has (bytes), unless one is longer: less than what a function of AWS takes. */
const requestBytes = 4 * 1024 * 1024

/** How many events a project has, for the progress; undefined where that is not known, as where the counters are damaged. */
export const totalOf = (access: Access): Effect.Effect<number | undefined> =>
  Effect.map(Effect.option(access.read("readStorage", { sessions: 1 })), (usage) =>
    Option.getOrUndefined(Option.map(usage, ({ events }) => events))
  )

class Cut extends CommandError {}

const cut = () => new Cut({ message: "The answer was cut again and again" })

/** The error of an answer that was to continue one: a refusal that may end by itself, and no answer at all, count as a cut. */
const asCut = (error: CommandError): CommandError =>
  Refusal.mayEnd(error) ? new Cut({ message: error.message }) : error

/** The bytes of an answer. Fails with `Cut` where it breaks. */
const bytesOf = ({ body }: Response): Stream.Stream<Uint8Array, Cut> =>
  body === null ? Stream.empty : Stream.fromAsyncIterable(body, cut)

type Query = Operations["export"]["input"]

/**
 * Whole lines, in parts. `cutter` knows what came so far. `back` runs where an answer was cut: what came after the last settled event
 * comes again.
 */
export const exported = (
  access: Access,
  query: Query,
  cutter: LineCutter,
  back: Effect.Effect<void, CommandError> = Effect.void
): Stream.Stream<Buffer, CommandError> => {
  const from = (after: string | undefined, cuts: number, isFirst: boolean): Stream.Stream<Buffer, CommandError> => {
    let reason = cut()
    const asked = Effect.filterOrFail(
      access.response("export", { ...query, after_event: after }),
      // A page of a gateway, for example.
      ({ headers }) => headers.get("content-type")?.startsWith("application/x-ndjson") === true,
      () => new CommandError({ message: "The answer is no export" })
    )
    const answer = isFirst ? asked : Effect.mapError(asked, asCut)
    const part = Stream.unwrap(Effect.map(answer, bytesOf)).pipe(
      Stream.map((bytes) => cutter.add(bytes)),
      Stream.filter(({ length }) => length > 0),
      Stream.catchIf(
        (error): error is Cut => error instanceof Cut,
        (error) => {
          reason = error
          return Stream.empty
        }
      )
    )
    const next = Stream.unwrap(
      Effect.gen(function* () {
        if (cutter.isWhole) return Stream.empty
        const isNew = cutter.lastEvent !== undefined && cutter.lastEvent !== after
        if (!isNew && cuts === maxCuts) return yield* reason
        cutter.drop()
        yield* back
        yield* Effect.sleep(pauseAfter(isNew ? 0 : cuts))
        return from(cutter.lastEvent ?? after, isNew ? 0 : cuts + 1, false)
      })
    )
    return Stream.concat(part, next)
  }
  return from(query.after_event, 0, true)
}

/** What has become of the lines of an import. */
export interface Counts {
  imported: number
  exists: number
  kept: number
  failed: number
}

export const noCounts = (): Counts => ({ imported: 0, exists: 0, kept: 0, failed: 0 })

interface Failed {
  readonly line: number
  readonly event_id?: string
  readonly error: {
    readonly type?: string
    readonly detail?: ReadonlyArray<{ readonly loc: ReadonlyArray<string>; readonly msg: string }>
  }
}

/** A line that was refused, by its number in the file. */
const refusalOf = ({ error, event_id: id, line }: Failed, before: number): string => {
  const reason = error.type ?? error.detail?.map(({ loc, msg }) => `${loc.slice(1).join(".")}: ${msg}`).join("; ") ?? ""
  return Table.printable(`line ${before + line}${id === undefined ? "" : `, event ${id}`}: ${reason}`)
}

type Answer = Failed | (Counts & { readonly type: "end" | "cut" })

/** Sends lines, whole ones, until all are answered. Run again, it sends nothing twice to the storage. */
const send = Effect.fnUntraced(function* (access: Access, lines: Buffer) {
  for (let cuts = 0; ; cuts++) {
    const body = lines as Buffer<ArrayBuffer>
    const response = yield* access.response("import", { answers: "failed", body })
    const text = yield* Effect.option(Effect.tryPromise(() => response.text()))
    const answers = text._tag === "None" ? [] : text.value.split("\n").filter((line) => line !== "")
    const parsed = answers.map((line) => JSON.parse(line) as Answer)
    const end = parsed.at(-1)
    if (end !== undefined && "type" in end && end.type === "end")
      return { end, failed: parsed.slice(0, -1) as ReadonlyArray<Failed> }
    if (cuts === maxCuts) return yield* cut()
    yield* Effect.sleep(pauseAfter(cuts))
  }
})

/** Imports whole lines. Adds to `counts`, and tells of each line that is refused. */
export const imported = Effect.fnUntraced(function* <E, R>(
  access: Access,
  lines: Stream.Stream<Buffer, E, R>,
  counts: Counts,
  onRefused: (line: string) => Effect.Effect<void, E>
) {
  let before = 0
  const sendAll = Effect.fnUntraced(function* (request: Buffer) {
    const { end, failed } = yield* send(access, request)
    for (const each of failed) yield* onRefused(refusalOf(each, before))
    for (const name of ["imported", "exists", "kept", "failed"] as const) counts[name] += end[name]
    before += countLines(request)
  })
  let waiting: Array<Buffer> = []
  let bytes = 0
  const flush = Effect.suspend(() => {
    const request = Buffer.concat(waiting)
    waiting = []
    bytes = 0
    return request.length === 0 ? Effect.void : sendAll(request)
  })
  yield* Stream.runForEach(lines, (some) => {
    const isFull = bytes + some.length > requestBytes
    const add = Effect.sync(() => {
      waiting.push(some)
      bytes += some.length
    })
    return isFull ? Effect.andThen(flush, add) : add
  })
  yield* flush
})

const countLines = (lines: Buffer): number => {
  let count = 0
  for (let at = lines.indexOf(10); at !== -1; at = lines.indexOf(10, at + 1)) count++
  return count
}
