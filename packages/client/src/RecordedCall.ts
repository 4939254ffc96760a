import type { Api } from "@tachograph/formats"
import type { CallContext } from "./context/Context.ts"

/** A call that an application records itself. */
export interface RecordedCall extends CallContext {
  readonly api: Api
  /** The model that was asked for, where `inputs` do not say it: some providers take it in the URL. */
  readonly model?: string | undefined
  /** The request to the model: a value, or a JSON text that is kept as it is. */
  readonly inputs: object | string
  /** The answer of the model: a value, or a JSON text that is kept as it is. */
  readonly output: object | string
  /** When the call was made. Now by default. */
  readonly occurredAt?: Date | undefined
  /** From the call until the last byte of the answer, in ms. */
  readonly durationMs?: number | undefined
  /** From the call until the first byte of the answer's body, in ms. */
  readonly firstTokenMs?: number | undefined
  /** The status of the provider's answer, such as 200. */
  readonly httpStatus?: number | undefined
}
