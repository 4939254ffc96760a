/** Hears what passes the proxy. */
export interface Tap {
  readonly request: (chunk: Uint8Array) => void
  /** `headers` are names and values in turn. */
  readonly head: (status: number, headers: ReadonlyArray<string>) => void
  readonly response: (chunk: Uint8Array) => void
}
