/**
 * Calls whose answer comes by another request: responses and interactions in the background, streams of them that are resumed, and deferred
 * completions. The request that brings the answer is the end of the call, once, however often it is asked for.
 */
import { conversationIn } from "@tachograph/formats/facts/Kept"
import type { Api, LaterAnswer, WireApi } from "@tachograph/formats/Format"
import { get, isEmpty, text } from "@tachograph/formats/json/Read"
import { wireApis, wireFormats } from "@tachograph/formats/WireFormats"
import { decodedOrSame } from "./PercentDecoding.ts"
import { pathOf } from "./Recognise.ts"

/** The call that is asked for, by the id that its first answer had. */
export interface Asked {
  readonly api: WireApi
  readonly id: string
}

/** Undefined for what has no such calls. An application may name a format that is none. */
const laterOf = (api: WireApi): LaterAnswer | undefined => (wireFormats as Partial<typeof wireFormats>)[api]?.later

/** An id that an idempotency key can hold. */
const idForm = /^[\x21-\x7e]{1,200}$/

const idOf = (value: unknown): string | null => (typeof value === "string" && idForm.test(value) ? value : null)

/** What a request asks for that an earlier one has begun; null where it asks for nothing of that kind. */
export const askedOf = (method: string, url: string | URL): Asked | null => {
  const path = pathOf(url)
  for (const api of wireApis) {
    for (const [of, form] of laterOf(api)?.requests ?? []) {
      const id = of === method ? idOf(decodedOrSame(form.exec(path)?.[1] ?? "")) : null
      if (id !== null) return { api, id }
    }
  }
  return null
}

/** A JSON text, or its bytes. */
interface JsonText extends Pick<string, "includes" | "indexOf"> {
  readonly slice: (from: number, to: number) => { readonly toString: () => string }
  readonly toString: () => string
}

/** The inputs of an end whose call is not known: what was asked for, which `links` reads. */
export const inputsOf = ({ api, id }: Asked): string => JSON.stringify({ [laterOf(api)?.idKey ?? "id"]: id })

/** The model of an answer, where the request that named it is not known. */
export const modelOf = (output: unknown): string | undefined =>
  text(get(output, "model")) ?? text(get(output, "agent")) ?? undefined

/** For how long a recorder knows an idempotency key (ms), less a day: after that it cannot be told whether an end was recorded. */
const knownForMs = 6 * 24 * 60 * 60 * 1000

const createdAtMs = (output: unknown): number => {
  const created = get(output, "completed_at") ?? get(output, "created_at") ?? get(output, "created")
  return typeof created === "number" ? created * 1000 : Date.parse(text(created) ?? "")
}

/** Whether the end of a call that is not known is to be recorded: any other may have been answered to its own request. */
const isEndOfUnknown = (later: LaterAnswer, output: unknown, nowMs: number): boolean =>
  later.isBackground(output) && nowMs - createdAtMs(output) < knownForMs

/** The idempotency key of the event that has the end: whoever asks for it again, here or in another process, has the same. */
export const keyOf = ({ api, id }: Asked): string => `end:${api}:${id}`

/**
 * What names the session of a call in the background that has no name: whoever asks for its end knows no more than its answer. A
 * conversation that the provider keeps is named as `sessionSeed` does it.
 */
export const seedOf = ({ api, id }: Asked, output: unknown): string => {
  const conversation = conversationIn(output)
  return JSON.stringify(conversation === null ? ["answer", api, id] : ["conversation", conversation])
}

/** Whether an output may be that of a call in the background. Most are not, and are not parsed for it. */
const mayBeInBackground = (output: JsonText): boolean => {
  if (output.includes('"queued"') || output.includes('"in_progress"')) return true
  const at = output.indexOf('"background"')
  return at !== -1 && /^\s*:\s*true/.test(output.slice(at + '"background"'.length, at + 32).toString())
}

/** What a call has made that is asked for by its id. */
export interface Later {
  readonly asked: Asked
  /** What names its session, where it has no name; null for one of the foreground, which is named as any call is. */
  readonly seed: string | null
  /** Whether the answer is its end: then all that have that are one event. */
  readonly hasEnded: boolean
}

/** Null for most calls. `inputs` need not hold the conversation, and `output` is an object. */
export const laterIn = (api: Api, inputs: unknown, output: JsonText): Later | null => {
  const later = api === "aisdk" ? undefined : laterOf(api)
  if (api === "aisdk" || later === undefined) return null
  const isAsked = ["background", "deferred", "agent"].some((key) => !isEmpty(get(inputs, key)))
  if (!isAsked && !mayBeInBackground(output)) return null
  const answer: unknown = JSON.parse(output.toString())
  const id = idOf(later.idIn(inputs, answer))
  const isRunning = later.isRunning(answer)
  const isOfBackground = get(inputs, "background") === true || later.isBackground(answer)
  if (id === null || !(isRunning || isOfBackground)) return null
  const asked = { api, id }
  return { asked, seed: isOfBackground ? seedOf(asked, answer) : null, hasEnded: !isRunning }
}

/** What a request for the answer of a call was answered with: the end of that, as an object; null where it is none to be recorded. */
export const endIn = ({ api }: Asked, isKnown: boolean, status: number, output: string, nowMs: number): unknown => {
  const later = laterOf(api)
  if (later === undefined || status < 200 || status >= 300) return null
  const answer: unknown = JSON.parse(output)
  return later.isEnd(answer) && (isKnown || isEndOfUnknown(later, answer, nowMs)) ? answer : null
}

/** How many calls are remembered, and how long their texts may be together. */
export const [maxBegun, maxBegunCharacters] = [1_000, 8 * 1024 * 1024]

/** Calls that have begun, so that their ends have what they asked: the latest ones. */
export class BegunCalls<Call extends { readonly inputs: string }> {
  readonly #calls = new Map<string, { readonly call: Call; isEnded: boolean }>()
  #characters = 0

  /** `scope` tells calls of several projects apart. Calls whose inputs are too long are not remembered with them. */
  add(scope: string, asked: Asked, call: Call): void {
    const key = `${scope} ${keyOf(asked)}`
    const before = this.#calls.get(key)
    if (before !== undefined) return
    const kept = call.inputs.length > maxBegunCharacters / 8 ? { ...call, inputs: inputsOf(asked) } : call
    this.#calls.set(key, { call: kept, isEnded: false })
    this.#characters += kept.inputs.length
    for (const oldest of this.#calls.keys()) {
      if (this.#calls.size <= maxBegun && this.#characters <= maxBegunCharacters) break
      this.#characters -= this.#calls.get(oldest)!.call.inputs.length
      this.#calls.delete(oldest)
    }
  }

  /** Undefined where none is known. */
  find(scope: string, asked: Asked): { readonly call: Call; readonly isEnded: boolean } | undefined {
    return this.#calls.get(`${scope} ${keyOf(asked)}`)
  }

  /** The end is recorded. */
  end(scope: string, asked: Asked): void {
    const known = this.#calls.get(`${scope} ${keyOf(asked)}`)
    if (known !== undefined) known.isEnded = true
  }
}
