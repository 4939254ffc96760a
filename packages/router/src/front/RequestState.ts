/** What the front knows of one request, from its headers to its answer. The front creates one per request. */
import { type AdmissionControl, defaultProject, type Permit, type ProjectId } from "@tachograph/core"
import type * as Redacted from "effect/Redacted"
import { randomUUID } from "node:crypto"

export interface RequestState {
  /** Answered as `x-request-id`, and annotated to every log line of the request. */
  readonly id: string
  readonly method: string
  /** Whether it arrived over HTTP; a call in process is neither counted nor logged as a request. */
  readonly isHttp: boolean
  /** Milliseconds, on the clock of `performance.now()`. */
  readonly startedAtMs: number
  /** What its body and its event hold of the process's memory and queue. */
  readonly permit: Permit
  /** The project of its sender, once that is known. */
  project: ProjectId
  /** What opened the endpoint; undefined for a call in process, and for what needs no key. */
  credential: Redacted.Redacted | undefined
}

export const start = (admission: AdmissionControl, method: string, isHttp: boolean): RequestState => ({
  id: randomUUID(),
  method,
  isHttp,
  startedAtMs: performance.now(),
  permit: admission.permit(),
  project: defaultProject,
  credential: undefined
})
