/** Records spans that are steps, beside the calls of their sessions. */
import type { Step } from "@tachograph/capture/spans/Assemble"
import { stepFieldsOf } from "@tachograph/capture/spans/StepFields"
import {
  type AgentName,
  type AgentVersionName,
  CurrentProject,
  type Errors,
  JsonText,
  type NewStep,
  type PersonId,
  type ProjectId,
  type Recorder,
  type SessionId,
  type Storage
} from "@tachograph/core"
import type { SpanId, TraceId } from "@tachograph/core/domain/Trace"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import { whenThereIsRoom } from "../events/RecordMany.ts"
import * as CallBody from "./CallBody.ts"
import type { IsErased } from "./RecordCalls.ts"

/** The longest name of a step (UTF-16 units). */
const maxName = 255

/** Keys of attributes that are named where they are cut. */
const maxCut = 20

export type RecordSteps = ReturnType<typeof make>

type Masked = (project: ProjectId, text: string) => Effect.Effect<string>

export const make = (recorder: Recorder["Service"], storage: Storage["Service"], masked: Masked) => {
  /** Where nothing names the session, it is that of the calls of the trace, if these have the same. */
  const sessionIn = Effect.fnUntraced(function* (project: ProjectId, traceId: string) {
    const { rows } = yield* storage.findEvents(
      project,
      { order: "asc", limit: 100 },
      { traceId: traceId as TraceId },
      100
    )
    const sessions = new Set(rows.flatMap(({ summary }) => (summary === undefined ? [] : [summary.session])))
    return sessions.size === 1 ? [...sessions][0] : undefined
  })

  const newStep = Effect.fnUntraced(function* (project: ProjectId, { kind, span }: Step): Effect.fn.Return<NewStep> {
    const { attributes, cut, message, status } = stepFieldsOf(span)
    const otlp = { scope: span.scope.name.slice(0, maxName), cut: cut.length === 0 ? undefined : cut.slice(0, maxCut) }
    const texts = { name: span.name, message, recorded: { otlp } }
    const shown = JSON.parse(yield* masked(project, JSON.stringify(texts))) as typeof texts
    return {
      traceId: span.traceId as TraceId,
      spanId: span.spanId as SpanId,
      parentSpanId: span.parentSpanId === "" ? null : (span.parentSpanId as SpanId),
      kind,
      occurredAt: DateTime.makeUnsafe(CallBody.isTime(span.startMs) ? span.startMs : 0),
      durationMs: CallBody.durationOf(span) ?? null,
      status,
      attributes: JsonText.unsafe(yield* masked(project, attributes)),
      ...shown,
      name: shown.name.slice(0, maxName)
    }
  })

  /** Returns those of which no session has a call yet. */
  return Effect.fnUntraced(function* (
    project: ProjectId,
    steps: ReadonlyArray<Step>,
    isErased?: IsErased
  ): Effect.fn.Return<ReadonlyArray<Step>, Errors.Overloaded | Errors.StorageUnavailable> {
    const without: Array<Step> = []
    const traces = new Map<string, string | undefined>()
    const groups = new Map<string, Array<Step>>()
    for (const step of steps) {
      const { agent, person, session, version } = step.group
      const { traceId } = step.span
      if (session === undefined && !traces.has(traceId)) traces.set(traceId, yield* sessionIn(project, traceId))
      const key = JSON.stringify([session ?? traces.get(traceId), agent, version, person])
      groups.set(key, groups.get(key) ?? [])
      groups.get(key)!.push(step)
    }
    for (const [key, group] of groups) {
      // As those of the events.
      const [session, agent, version, person] = JSON.parse(yield* masked(project, key)) as ReadonlyArray<string | null>
      const named = CallBody.namesOf({
        group: {
          session: session ?? undefined,
          agent: agent ?? undefined,
          version: version ?? undefined,
          person: person ?? undefined
        }
      })
      if (isErased?.(named) === true) continue
      if (named.session === undefined) {
        without.push(...group)
        continue
      }
      const recorded = recorder.recordSteps({
        session: named.session as SessionId,
        agent: named.agent as AgentName | undefined,
        agentVersion: named.agent_version as AgentVersionName | undefined,
        person: named.person as PersonId | undefined,
        steps: yield* Effect.forEach(group, (step) => newStep(project, step))
      })
      yield* whenThereIsRoom(recorded).pipe(
        Effect.catchTag("session-not-found", () => Effect.sync(() => without.push(...group))),
        Effect.catchTag("session-id-empty", Effect.die),
        Effect.provideService(CurrentProject, project)
      )
    }
    return without
  })
}
