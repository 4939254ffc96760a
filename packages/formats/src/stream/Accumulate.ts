/** The part of an accumulator that is the same in every format of bytes: cutting the body, and reading its payloads. */
import type { Accumulated, Accumulator, Json, JsonObject } from "../Format.ts"
import { parse, settle, stringify } from "../json/ExactJson.ts"
import { isObject } from "../json/Read.ts"
import * as Payloads from "./Payloads.ts"

/** Builds the output of one stream from its payloads. Numbers that JavaScript cannot hold are opaque `ExactNumber`s. */
export interface Builder {
  /** Takes one payload. `event` is the name of the server-sent event, empty where there is none. */
  readonly take: (payload: JsonObject, event: string) => void
  /** Takes the mark after which nothing follows: `[DONE]`. */
  readonly done: () => void
  /** Returns what came until now. It may be called at any moment, and more payloads can follow. */
  readonly build: () => { readonly output: JsonObject; readonly ended: Accumulated["ended"] }
}

/** What ended a stream. */
export const endedBy = (isError: boolean, isDone: boolean): Accumulated["ended"] => {
  if (isError) return "error"
  return isDone ? "done" : "cut"
}

const read = (data: string): Json | undefined => {
  try {
    return parse(data) as Json
  } catch {
    return undefined
  }
}

export const accumulator = (builder: Builder): Accumulator => {
  const decoder = Payloads.make()
  /** The data of the unfinished payloads that `end` took already. */
  const taken: Array<string> = []
  /** The bytes since the last chunk that completed a payload, and of that chunk. */
  let unread = 0

  const take = ({ event, data }: Payloads.Payload, isWhole: boolean): boolean => {
    if (data.trim() === "[DONE]") {
      builder.done()
      return true
    }
    const payload = read(data)
    if (isObject(payload)) builder.take(payload, event)
    else if (isWhole && event === "error" && data.trim() !== "") builder.take({ error: payload ?? data }, event)
    else return false
    return true
  }

  return {
    push: (bytes) => {
      const payloads = decoder.push(bytes)
      unread = bytes.length + (payloads.length > 0 ? 0 : unread)
      for (const payload of payloads) {
        if (payload.data.trim() !== taken.shift()) take(payload, true)
      }
    },
    end: () => {
      const unfinished = decoder.end()
      for (const payload of unfinished.slice(taken.length)) {
        if (take(payload, false)) taken.push(payload.data.trim())
      }
      const { output, ended } = builder.build()
      return { ...settle(output), ended }
    },
    size: () => unread + stringify(builder.build().output).length
  }
}
