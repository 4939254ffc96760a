/** Records steps: what is sent, and what was recorded elsewhere before. */
import * as Effect from "effect/Effect"
import { defaultAgentName } from "../domain/Agent.ts"
import { defaultAgentVersionName } from "../domain/AgentVersion.ts"
import { ChecksumDiffers, type Overloaded, SessionIdEmpty, SessionNotFound } from "../domain/Errors.ts"
import { CurrentProject } from "../domain/Project.ts"
import * as Checksum from "../storage/Checksum.ts"
import type { Result } from "../storage/Result.ts"
import * as Spans from "../telemetry/Spans.ts"
import type { GroupCommit } from "./GroupCommit.ts"
import * as NewSteps from "./NewSteps.ts"

interface RecordedSteps {
  readonly kept: number
  readonly existing: number
}

export interface StepRecording {
  /**
   * Records steps of a session that has an event. Succeeds when they are committed, with how many were, and how many were there before by
   * their trace and span: the first ones stay. Fails with `SessionNotFound` if the session has no event; then none is committed.
   */
  readonly recordSteps: (
    steps: NewSteps.NewSteps
  ) => Result<RecordedSteps, SessionIdEmpty | SessionNotFound | Overloaded>
  /**
   * Records steps that were recorded elsewhere before. `checksum` is that of their texts, unsigned. Succeeds when they are committed, or
   * were all there already.
   */
  readonly importSteps: (
    steps: NewSteps.NewSteps,
    checksum?: number
  ) => Result<"imported" | "exists", SessionIdEmpty | SessionNotFound | Overloaded | ChecksumDiffers>
}

/** Counts what no mount has counted, of this many bytes. */
type Admitted = <A, E>(bytes: number, append: Effect.Effect<A, E>) => Effect.Effect<A, E | Overloaded>

export const make = (groupCommit: GroupCommit["Service"], admitted: Admitted): StepRecording => {
  const recordSteps = Effect.fnUntraced(function* ({ receivedAt, session, steps, ...names }: NewSteps.NewSteps) {
    if (session === "") return yield* new SessionIdEmpty()
    const project = yield* CurrentProject
    const agent = names.agent ?? defaultAgentName
    const agentVersion = names.agentVersion ?? defaultAgentVersionName
    const person = names.person ?? null
    const recorded = { kept: 0, existing: 0 }
    for (const group of NewSteps.groupsOf(steps.map(NewSteps.textOf))) {
      const pending = { project, session, agent, agentVersion, person, receivedAt, steps: group }
      const bytes = group.reduce((sum, step) => sum + step.bytes, 0)
      const outcome = yield* admitted(bytes, groupCommit.appendSteps(pending))
      if (outcome === undefined) return yield* new SessionNotFound()
      recorded.kept += outcome.kept
      recorded.existing += outcome.existing
    }
    return recorded
  }, Spans.spanIfTraced("Recorder.recordSteps"))

  const importSteps = Effect.fnUntraced(function* (steps: NewSteps.NewSteps, checksum?: number) {
    const own = Checksum.ofStepTexts(steps.steps.map((step) => NewSteps.textOf(step).text))
    if (checksum !== undefined && checksum !== own >>> 0) return yield* new ChecksumDiffers()
    const { kept } = yield* recordSteps(steps)
    return kept > 0 ? ("imported" as const) : ("exists" as const)
  }, Spans.spanIfTraced("Recorder.importSteps"))

  return { recordSteps, importSteps }
}
