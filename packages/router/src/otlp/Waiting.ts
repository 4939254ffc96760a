/**
 * What waits: spans and log records of which something that is still to come may say more. They are kept in the storage, and become calls when
 * nothing can say more of them, or after a time; by one process at a time, also after a restart.
 */
import { assemble, byStart, type Call, type Link } from "@tachograph/capture/spans/Assemble"
import type { LogRecord, Span } from "@tachograph/capture/spans/Span"
import type { ProjectId, Storage, WaitingPart } from "@tachograph/core"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as LeftOut from "./LeftOut.ts"
import * as Parts from "./Parts.ts"
import type * as RecordCalls from "./RecordCalls.ts"
import type * as RecordSteps from "./RecordSteps.ts"

/** What of a group is read at once (bytes, before compression). Of a group that has more, what came first is finished by itself. */
const maxGroupBytes = 64 * 1024 * 1024

/** Groups that are listed at once. */
const groupsAtOnce = 100

/** What is told of a group, and the parts that told it. */
const read = (parts: ReadonlyArray<WaitingPart>) => {
  const spans: Array<Span> = []
  const contexts: Array<Span> = []
  const links: Array<Link> = []
  const bySpan = new Map<string, Array<WaitingPart>>()
  const byLog = new Map<LogRecord, WaitingPart>()
  for (const part of parts) {
    const told = Parts.toldIn(part)
    if ("link" in told) links.push(told.link)
    else if ("context" in told) contexts.push(told.context)
    else if ("log" in told) byLog.set(told.log, part)
    else {
      spans.push(told.span)
      bySpan.set(told.span.spanId, [...(bySpan.get(told.span.spanId) ?? []), part])
    }
  }
  const partsOf = ({ logs, spans }: Pick<Call, "logs" | "spans">): ReadonlyArray<WaitingPart> => [
    ...spans.flatMap(({ spanId }) => bySpan.get(spanId) ?? []),
    ...logs.map((log) => byLog.get(log)!)
  ]
  return { assembled: assemble({ spans, logs: Array.from(byLog.keys()), links, contexts }), partsOf }
}

interface Settings {
  /** A JSON text without what patterns match. */
  readonly masked: (project: ProjectId, text: string) => Effect.Effect<string>
  /** How long a call waits (ms). */
  readonly waitMs: number
}

export type Waiting = ReturnType<typeof make>

export const make = (
  storage: Storage["Service"],
  recordCall: RecordCalls.RecordCall,
  recordSteps: RecordSteps.RecordSteps,
  { masked, waitMs }: Settings
) => {
  const readAll = Effect.fnUntraced(function* (project: ProjectId, group: string) {
    const parts: Array<WaitingPart> = []
    let bytes = 0
    for (let after: Parameters<typeof storage.readWaiting>[2]; ;) {
      const { next, rows } = yield* storage.readWaiting(project, group, after, maxGroupBytes - bytes)
      parts.push(...rows)
      bytes += rows.reduce((sum, { size }) => sum + size, 0)
      if (next === undefined || bytes >= maxGroupBytes) return { parts, isWhole: next === undefined }
      after = next
    }
  })

  /** Records what is complete of a group, or has waited for long enough; all of it if `isForced`. The rest waits on. */
  const finish = Effect.fnUntraced(function* (project: ProjectId, group: string, isForced: boolean) {
    const now = yield* Clock.currentTimeMillis
    const { isWhole, parts } = yield* readAll(project, group)
    const { assembled, partsOf } = read(parts)
    const isOver = ({ since }: WaitingPart) => isForced || !isWhole || since + waitMs <= now
    const waiting = new Set<WaitingPart>()
    const ended = new Set<WaitingPart>()
    for (const call of assembled.calls.toSorted(byStart)) {
      const own = partsOf(call)
      const isReady = call.isComplete || own.some(isOver)
      if (isReady) yield* recordCall(project, call)
      for (const part of own) (isReady ? ended : waiting).add(part)
    }
    const ready = new Set(assembled.steps.filter((step) => step.isComplete || partsOf(step).some(isOver)))
    const early = new Set(yield* recordSteps(project, Array.from(ready)))
    for (const step of assembled.steps) {
      const own = partsOf(step)
      const isKept = ready.has(step) && !early.has(step)
      if (early.has(step) && own.some(isOver)) yield* LeftOut.count("late", step.span.scope.name, 1)
      for (const part of own) (isKept || own.some(isOver) ? ended : waiting).add(part)
    }
    // Whose a call is stays known as long as one waits.
    if (waiting.size === 0) for (const part of parts.filter(isOver)) ended.add(part)
    const late = assembled.logs.filter((log) => partsOf({ spans: [], logs: [log] }).some((part) => ended.has(part)))
    for (const { scope } of late) yield* LeftOut.count("late", scope.name, 1)
    yield* storage.endWaiting(project, group, Array.from(ended))
    const left = parts.filter((part) => !ended.has(part))
    const dueMs = Math.min(...left.map(({ since }) => since)) + waitMs
    if (left.length > 0) yield* storage.postpone(project, group, Math.max(dueMs, now + 1))
  })

  return {
    finish,
    finishAll: Effect.fnUntraced(function* (project: ProjectId) {
      for (let after: string | undefined; ;) {
        const groups = yield* storage.listWaitingGroups(project, after, groupsAtOnce)
        for (const group of groups) yield* finish(project, group, true)
        if (groups.length < groupsAtOnce) return
        after = groups.at(-1)
      }
    }),
    /**
     * Keeps what is told until it can be recorded, without what patterns match. It is on disk when this succeeds. It may complete what waits
     * already.
     */
    hold: Effect.fnUntraced(function* (project: ProjectId, told: ReadonlyArray<Parts.Told>) {
      const since = yield* Clock.currentTimeMillis
      const parts: Array<WaitingPart> = []
      for (const [place, each] of told.entries()) {
        const text = yield* masked(project, Parts.textOf(each))
        parts.push({ ...Parts.of(each, text, place), since, due: "context" in each ? undefined : since + waitMs })
      }
      yield* storage.hold(project, parts)
      yield* storage.makeDue(project, Array.from(new Set(parts.map(({ group }) => group))), since)
    })
  }
}
