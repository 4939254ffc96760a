/** Records bodies in this process through the fetch handler, without a socket. */
import { MemoryStorage, type Storage } from "@tachograph/core"
import { createTachograph, type TachographOptions } from "@tachograph/router"
import type * as Layer from "effect/Layer"

const apiKey = "a key for the storage benchmark"

export const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" }
export const apiKeys = [apiKey]

/** Larger than any body of a workload. */
export const bodyBudgetBytes = 500 * 2 ** 20

/** Equal fingerprints have the same id in every store, so bodies can be prepared before there is a store. */
export const fingerprint = { language: "js", language_version: "24", system: "storage benchmark" }

export interface Recording {
  /** Returns the event's id. */
  readonly record: (body: Buffer) => Promise<string>
  readonly get: (path: string) => Promise<Response>
  readonly close: () => Promise<void>
}

export const open = async (
  storage: Layer.Layer<Storage, unknown>,
  options: Pick<TachographOptions<unknown>, "thread"> = {}
): Promise<Recording> => {
  const tachograph = await createTachograph({ storage, apiKeys, maxBody: bodyBudgetBytes, ...options })
  await tachograph.fingerprint(fingerprint)
  const call = (path: string, init: RequestInit = {}) =>
    tachograph.fetch(new Request(`http://localhost${path}`, { headers, ...init }))
  return {
    record: async (body) => {
      const response = await call("/api/v1/events", { method: "POST", body: new Uint8Array(body) })
      const text = await response.text()
      if (response.status !== 200)
        throw new Error(`An event was answered with ${response.status}: ${text.slice(0, 500)}`)
      return (JSON.parse(text) as { readonly event_id: string }).event_id
    },
    get: call,
    close: tachograph.close
  }
}

/** Records bodies one after the other and returns the ids of the events. */
export const recordAll = async (
  storage: Layer.Layer<Storage, unknown>,
  bodies: ReadonlyArray<Buffer>
): Promise<ReadonlyArray<string>> => {
  const recording = await open(storage)
  const ids: Array<string> = []
  for (const body of bodies) ids.push(await recording.record(body))
  await recording.close()
  return ids
}

/** The id of `fingerprint`, the same in every store. */
export const fingerprintId = async (): Promise<string> => {
  const tachograph = await createTachograph({ storage: MemoryStorage.layer })
  const id = await tachograph.fingerprint(fingerprint)
  await tachograph.close()
  return id
}
