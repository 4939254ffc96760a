/** What is recorded in process: the bodies of the contract, as an application writes them. */
import type { Events, Fingerprints } from "@tachograph/api"

/** What is optional may be undefined, as it is not written then. */
type Written<A> = { readonly [K in keyof A]: object extends Pick<A, K> ? A[K] | undefined : A[K] }

/** An object, or the JSON text of one, which is kept byte for byte; bytes are UTF-8. */
type Payload = object | string | Uint8Array

type CreateEvent = typeof Events.CreateEvent.Encoded

/** The body of Create Event. */
export interface NewEvent extends Written<Omit<CreateEvent, "metadata" | "occurred_at" | "properties">> {
  readonly properties: {
    /** The format of `inputs` and `output`. */
    readonly api: CreateEvent["properties"]["api"]
    /** The request to the model. */
    readonly inputs: Payload
    /** The answer of the model. */
    readonly output: Payload
  }
  /** When the call was made: now, unless it is given. A text is ISO 8601. */
  readonly occurred_at?: string | Date | null | undefined
  /** At most 16 KiB of JSON. */
  readonly metadata?: object | null | undefined
}

/** The body of Create Fingerprint. */
export type NewFingerprint = Written<typeof Fingerprints.CreateFingerprint.Encoded>
