/** A request on its way to the engine. */
import type { Principal } from "@tachograph/core"
import type { PassedCall } from "../calls/PassedCall.ts"
import type * as RequestBody from "./RequestBody.ts"

/** A request as a mount received it. */
export interface Incoming {
  readonly method: string
  /** The target as it was sent: path and query, with or without scheme and host. */
  readonly url: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The object that the mount received, which a host's rule sees. */
  readonly source: object
  readonly body: RequestBody.BodySource
  /** Called before the body is read. */
  readonly onReadBody?: (() => void) | undefined
  /** The principal of a call in process, which needs no key. */
  readonly principal?: Principal | undefined
  /** Whether the client has not yet taken the answers before this one on its connection. */
  readonly isBehind?: (() => boolean) | undefined
  /** A call that passed the proxy, whose event is to be made of it instead of the body. */
  readonly passed?: Passed | undefined
}

interface Passed {
  readonly call: PassedCall
  /** The copies of its bodies, each of them within the limit. Nothing else uses their memory. */
  readonly copies: Uint8Array
}
