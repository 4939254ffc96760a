/**
 * What waits: spans and log records of which something that is still to come may say more. They are kept in the storage, and become calls when
 * nothing can say more of them, or after a time; by one process at a time, also after a restart.
 */
import type { Call, Step } from "@tachograph/capture/spans/Assemble"
import { LruCache, type ProjectId, type Storage, type WaitingPart } from "@tachograph/core"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as CallBody from "./CallBody.ts"
import * as LeftOut from "./LeftOut.ts"
import * as Parts from "./Parts.ts"
import type * as RecordCalls from "./RecordCalls.ts"
import type * as RecordSteps from "./RecordSteps.ts"
import * as WaitingGroup from "./WaitingGroup.ts"

/** What of a group is read at once: bytes, before compression, and parts. Of a group that has more, what came first is finished by itself. */
const maxGroupBytes = 16 * 1024 * 1024
const maxGroupParts = 20_000

/** A group that takes longer to look at (ms) is left alone for so many times as long: posts to it come one after the other. */
const longMs = 50
const restFactor = 9
/** The longest rest (ms): also where the clock was put forward. */
const maxRestMs = 10_000

/** Memory of the groups that are left alone (bytes), and of one of them. */
const maxRestBytes = 1024 * 1024
const restBytes = 300

/** How long a group is left alone that makes the process fail (ms). */
const afterDefectMs = 60_000

/** Parts that are made before they are kept. */
const maxHeld = 500

/** Groups that are listed at once. */
const groupsAtOnce = 100

interface Settings {
  /** A JSON text without what patterns match. */
  readonly masked: (project: ProjectId, text: string) => Effect.Effect<string>
  /** How long a call waits (ms). */
  readonly waitMs: number
}

/** Records what is ready of a group. */
const recording = (recordCalls: RecordCalls.RecordCalls, recordSteps: RecordSteps.RecordSteps) => {
  const record = Effect.fnUntraced(function* (
    project: ProjectId,
    calls: ReadonlyArray<Call>,
    isErased: (call: Call) => RecordCalls.IsErased | undefined
  ) {
    const outcomes = yield* recordCalls(project, calls, { maxEventBytes: Infinity, isErased })
    for (const outcome of outcomes) {
      if (outcome === "recorded") continue
      yield* Effect.logWarning("A call that OpenTelemetry told cannot be recorded", outcome.refused)
      yield* LeftOut.count("late", "refused", 1)
    }
  })

  /** Returns the parts that it has ended, and those that are left. */
  return Effect.fnUntraced(function* (
    project: ProjectId,
    parts: ReadonlyArray<WaitingPart>,
    isReady: (member: Call | Step, own: ReadonlyArray<WaitingPart>) => boolean,
    isOver: (part: WaitingPart) => boolean,
    isOld: (part: WaitingPart) => boolean
  ) {
    const { assembled, isErased, partsOf, unreadable } = WaitingGroup.read(parts)
    const ended = new Set(unreadable)
    const waiting = new Set<WaitingPart>()
    if (unreadable.length > 0) yield* LeftOut.count("late", "damaged", unreadable.length)
    const calls = new Set(assembled.calls.filter((call) => isReady(call, partsOf(call))))
    yield* record(project, Array.from(calls), isErased)
    for (const call of assembled.calls) {
      for (const part of partsOf(call)) (calls.has(call) ? ended : waiting).add(part)
    }
    const ready = new Set(assembled.steps.filter((step) => isReady(step, partsOf(step))))
    const early = new Set<Step>()
    // An erasure concerns each by itself.
    for (const [isErasable, steps] of Map.groupBy(ready, isErased))
      for (const step of yield* recordSteps(project, steps, isErasable)) early.add(step)
    for (const step of assembled.steps) {
      const own = partsOf(step)
      const isLate = early.has(step) && own.some(isOver)
      if (isLate) yield* LeftOut.count("late", step.span.scope.name, 1)
      for (const part of own) (isLate || (ready.has(step) && !early.has(step)) ? ended : waiting).add(part)
    }
    // Whose a call is stays known as long as one waits, also where that was not read.
    if (waiting.size === 0) for (const part of parts.filter(isOld)) ended.add(part)
    const late = assembled.logs.filter((log) => partsOf({ spans: [], logs: [log] }).some((part) => ended.has(part)))
    for (const { scope } of late) yield* LeftOut.count("late", scope.name, 1)
    return { ended: Array.from(ended), left: parts.filter((part) => !ended.has(part)), isWaiting: waiting.size > 0 }
  })
}

export type Waiting = ReturnType<typeof make>

export const make = (
  storage: Storage["Service"],
  recordCalls: RecordCalls.RecordCalls,
  recordSteps: RecordSteps.RecordSteps,
  { masked, waitMs }: Settings
) => {
  const recordReady = recording(recordCalls, recordSteps)
  const restUntil = new LruCache<string, number>(maxRestBytes)

  const readAll = Effect.fnUntraced(function* (project: ProjectId, group: string) {
    const parts: Array<WaitingPart> = []
    let bytes = 0
    for (let after: Parameters<typeof storage.readWaiting>[2]; ;) {
      const { next, rows } = yield* storage.readWaiting(project, group, after, maxGroupBytes - bytes)
      parts.push(...rows)
      bytes += rows.reduce((sum, { size }) => sum + size, 0)
      if (next === undefined || bytes >= maxGroupBytes || parts.length >= maxGroupParts)
        return { parts, isWhole: next === undefined }
      after = next
    }
  })

  /** Records what is complete of a group, or has waited for long enough. The rest waits on. */
  const finish = Effect.fnUntraced(function* (project: ProjectId, group: string) {
    const now = yield* Clock.currentTimeMillis
    const name = JSON.stringify([project, group])
    const until = restUntil.get(name) ?? now
    if (until > now) return yield* storage.postpone(project, group, until)
    const { isWhole, parts } = yield* readAll(project, group)
    const isOld = ({ since }: WaitingPart) => since + waitMs <= now
    const isOver = (part: WaitingPart) => !isWhole || isOld(part)
    const { ended, left } = yield* recordReady(
      project,
      parts,
      (member, own) => member.isComplete || own.some(isOver),
      isOver,
      // Parts that were not read may need what only says something of others, unless there is nothing else.
      (part) => isOld(part) && (isWhole || parts.every(({ due }) => due === undefined))
    )
    yield* storage.endWaiting(project, group, ended)
    const dueMs =
      left.reduce((oldest, { due, since }) => (due === undefined ? oldest : Math.min(oldest, since)), now) + waitMs
    const endedMs = yield* Clock.currentTimeMillis
    if (endedMs - now > longMs)
      restUntil.set(name, endedMs + Math.min(restFactor * (endedMs - now), maxRestMs), restBytes)
    if (left.length > 0) yield* storage.postpone(project, group, Math.max(dueMs, now + 1))
  })

  const markErased = (project: ProjectId, group: string, erased: Parts.Erased) =>
    Effect.flatMap(Clock.currentTimeMillis, (at) =>
      storage.hold(project, [{ ...Parts.ofErased(group, erased, at), due: undefined }])
    )

  /** Records what waits of a session or a person, so that it is erased with them. Of what is left, a part says that it may be theirs. */
  const finishErased = Effect.fnUntraced(function* (project: ProjectId, group: string, erased: Parts.Erased) {
    const { isWhole, parts } = yield* readAll(project, group)
    const isTheirs = (member: Call | Step) => WaitingGroup.isOf(erased)(CallBody.namesOf(member))
    const { ended, isWaiting } = yield* recordReady(
      project,
      parts,
      isTheirs,
      () => false,
      () => false
    )
    if (isWaiting || !isWhole) yield* markErased(project, group, erased)
    yield* storage.endWaiting(project, group, [...ended, ...WaitingGroup.contextsOf(parts, erased)])
  })

  return {
    finish,
    /** Comes before an erasure. */
    finishAll: Effect.fnUntraced(function* (project: ProjectId, erased: Parts.Erased) {
      for (let after: string | undefined; ;) {
        const groups = yield* storage.listWaitingGroups(project, after, groupsAtOnce)
        for (const group of groups) {
          // What cannot be read now may be theirs.
          yield* Effect.catchDefect(finishErased(project, group, erased), () => markErased(project, group, erased))
        }
        if (groups.length < groupsAtOnce) return
        after = groups.at(-1)
      }
    }),
    /** Those of the traces of which something waits. */
    tracesAmong: storage.waitingAmong,
    /** Does not look at a group for some time that cannot be finished. */
    postpone: (project: ProjectId, group: string) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => storage.postpone(project, group, now + afterDefectMs)),
    /**
     * Keeps what is told until it can be recorded, without what patterns match. It is on disk when this succeeds. It may complete what waits
     * already.
     */
    hold: Effect.fnUntraced(function* (project: ProjectId, told: ReadonlyArray<Parts.Told>) {
      const since = yield* Clock.currentTimeMillis
      const own = new Map<string, Set<string>>()
      const equal = new Map<string, number>()
      for (let at = 0; at < told.length; at += maxHeld) {
        const parts: Array<WaitingPart> = []
        for (const [index, each] of told.slice(at, at + maxHeld).entries()) {
          const text = yield* masked(project, Parts.textOf(each))
          const nth = "log" in each ? (equal.get(text) ?? 0) : 0
          if ("log" in each) equal.set(text, nth + 1)
          const part = Parts.of(each, text, nth, at + index)
          parts.push({ ...part, since, due: "context" in each ? undefined : since + waitMs })
          own.set(part.group, (own.get(part.group) ?? new Set()).add(part.part))
        }
        yield* storage.hold(project, parts)
      }
      // What came together was looked at together.
      yield* storage.makeDue(project, new Map(Array.from(own, ([group, { size }]) => [group, size])), since)
    })
  }
}
