/** Puts together what Gemini streams: each chunk is an answer of its own, with the text that is new. */
import { errorOf } from "../facts/Errors.ts"
import type { Accumulator, Json, JsonObject } from "../Format.ts"
import { define } from "../json/ExactJson.ts"
import * as JsonPath from "../json/JsonPath.ts"
import { get, isEmpty, isObject, list, text } from "../json/Read.ts"
import { accumulator as accumulate, type Builder } from "../stream/Accumulate.ts"
import { joinBase64 } from "../stream/Base64.ts"
import { assign, atPlace, byPlace, type Draft } from "../stream/Draft.ts"
import { laterOf } from "../stream/Usage.ts"

/** Sets the fields that say something. */
const assignSaid = (target: Draft, source: Json | undefined, except: ReadonlySet<string> = new Set()): void => {
  if (!isObject(source)) return
  for (const [key, value] of Object.entries(source)) if (!except.has(key) && value !== null) define(target, key, value)
}

const own = (target: Draft, key: string): Draft => {
  if (!isObject(get(target, key))) define(target, key, {})
  return target[key] as Draft
}

/** Adds the elements of each array of an object to those that came before. */
const appendLists = (target: Draft, source: Json | undefined): void => {
  if (!isObject(source)) return
  for (const [key, value] of Object.entries(source)) {
    if (!Array.isArray(value)) define(target, key, value)
    else if (Array.isArray(get(target, key))) for (const item of value) (target[key] as Array<Json>).push(item)
    else define(target, key, [...value])
  }
}

/** Anything else that a part holds is an object. */
const isText = (part: Json): part is JsonObject & { readonly text: string } =>
  isObject(part) &&
  typeof get(part, "text") === "string" &&
  Object.keys(part).every((key) => isEmpty(part[key]) || typeof part[key] !== "object")

const signatures = ["thoughtSignature", "thought_signature"]

const isSigned = (part: JsonObject): boolean => signatures.some((key) => !isEmpty(get(part, key)))

const pieceKeys: ReadonlySet<string> = new Set(["text", "thought", ...signatures])

/** Whether two texts say the same of themselves, so that nothing tells them apart. */
const isAlike = (last: JsonObject, part: JsonObject): boolean =>
  (last["thought"] === true) === (part["thought"] === true) &&
  Object.keys(part).every((key) => pieceKeys.has(key) || isEmpty(part[key]) || part[key] === get(last, key))

/** Sound without a head, of which any two pieces in a row are one piece. */
const isSound = (part: JsonObject): boolean =>
  /^audio\/(?:l16|pcm)\b/i.test(text(get(part, "inlineData", "mimeType")) ?? "") && Object.keys(part).length === 1

/** The parts of one candidate. */
const makeParts = () => {
  const parts: Array<Draft> = []
  /** The last part, if the next may go on with it. */
  let open: { readonly kind: "text" | "call" | "sound"; readonly part: Draft } | null = null
  let path: ReturnType<typeof JsonPath.make> | null = null
  /** Pieces of base64 of the sound that is open. */
  const sounds = new Map<Draft, Array<string>>()

  const add = (part: Draft, kind: "text" | "call" | "sound" | null) => {
    parts.push(part)
    open = kind === null ? null : { kind, part }
  }

  /** Text goes on until a signature ends it, or a part of another kind. The signature may come with an empty text. */
  const takeText = (part: JsonObject) => {
    const last = open?.kind === "text" ? open.part : null
    if (last !== null && isAlike(last, part)) {
      last["text"] = `${last["text"] as string}${part["text"] as string}`
      for (const key of signatures) if (!isEmpty(get(part, key))) last[key] = part[key] as Json
    } else add({ ...part }, "text")
    if (isSigned(part)) open = null
  }

  /** A call whose arguments come in pieces: the first has its name, the last says no more that it will continue. */
  const takeCall = (part: JsonObject, call: JsonObject) => {
    const isNext = open?.kind === "call" && text(get(call, "name")) === null
    const target: Draft = isNext && open !== null ? open.part : {}
    assignSaid(target, part, new Set(["functionCall"]))
    const made = own(target, "functionCall")
    assignSaid(made, call, new Set(["partialArgs", "willContinue", "args"]))
    if (!isNext) path = JsonPath.make()
    const whole = get(call, "args")
    if (isObject(whole)) assign(own(made, "args"), whole)
    const pieces = list(get(call, "partialArgs"))
    if (pieces.length > 0) {
      const args = own(made, "args")
      for (const piece of pieces) path?.set(args, piece)
    }
    if (!isNext) parts.push(target)
    const goesOn = get(call, "willContinue") === true
    // A call without arguments has an empty object, once all of it has come.
    if (!goesOn) own(made, "args")
    open = goesOn ? { kind: "call", part: target } : null
  }

  const takeSound = (part: JsonObject) => {
    const data = text(get(part, "inlineData", "data")) ?? ""
    const last = open?.kind === "sound" ? open.part : null
    if (last !== null && get(last, "inlineData", "mimeType") === get(part, "inlineData", "mimeType")) {
      sounds.get(last)?.push(data)
      return
    }
    const sound = { ...part, inlineData: { ...(get(part, "inlineData") as JsonObject) } }
    sounds.set(sound, [data])
    add(sound, "sound")
  }

  const isStreamed = (call: Json | undefined): call is JsonObject =>
    isObject(call) &&
    (open?.kind === "call" || get(call, "willContinue") === true || isObject(get(call, "partialArgs", 0)))

  const take = (part: Json) => {
    const call = get(part, "functionCall")
    if (!isObject(part)) parts.push(part as unknown as Draft)
    else if (isText(part)) takeText(part)
    else if (isStreamed(call)) takeCall(part, call)
    else if (isSound(part)) takeSound(part)
    else add(part as Draft, null)
  }

  const build = (): ReadonlyArray<Json> => {
    for (const [sound, pieces] of sounds) {
      const joined = joinBase64(pieces)
      pieces.splice(0, pieces.length, joined)
      define(sound["inlineData"] as Draft, "data", joined)
    }
    // An empty text only says that nothing was added, unless it is all that was said.
    const said = parts.filter(
      (part) =>
        !(
          isText(part) &&
          part["text"] === "" &&
          Object.keys(part).every((key) => key === "text" || key === "thought" || isEmpty(part[key]))
        )
    )
    return said.length > 0 ? said : parts.slice(0, 1)
  }

  return { take, build }
}

const knownOfCandidate = new Set(["content", "finishReason", "index", "citationMetadata", "logprobsResult"])

/** One candidate. */
const makeCandidate = () => {
  const content: Draft = {}
  const others: Draft = {}
  const parts = makeParts()
  let hasContent = false
  let hasParts = false
  let index: Json | undefined
  let finishReason: Json | undefined

  const take = (candidate: JsonObject) => {
    const chunk = get(candidate, "content")
    if (isObject(chunk)) hasContent = true
    for (const [key, value] of Object.entries(isObject(chunk) ? chunk : {})) {
      if (key !== "parts") define(content, key, value)
      else if (Array.isArray(value)) {
        // The place of `parts` among the keys is the one on the wire.
        define(content, key, [])
        hasParts = true
        for (const part of value) parts.take(part as Json)
      }
    }
    index ??= get(candidate, "index")
    // A candidate that goes on after a reason to finish had not finished: Google gives one at each call of an MCP server.
    if (!isEmpty(get(candidate, "finishReason"))) finishReason = get(candidate, "finishReason")
    else if (list(get(chunk, "parts")).length > 0) finishReason = undefined
    for (const [key, value] of Object.entries(candidate)) {
      if (value === null) continue
      if (key === "citationMetadata" || key === "logprobsResult") appendLists(own(others, key), value)
      else if (key === "groundingMetadata" || key === "urlContextMetadata") assignSaid(own(others, key), value)
      else if (!knownOfCandidate.has(key)) define(others, key, value)
    }
  }

  const build = (): JsonObject => ({
    ...(hasContent ? { content: hasParts ? { ...content, parts: parts.build() } : content } : {}),
    ...(finishReason === undefined ? {} : { finishReason }),
    ...(index === undefined ? {} : { index }),
    ...others
  })

  return { take, build, isFinished: () => finishReason !== undefined }
}

const counts = ["totalTokenCount", "promptTokenCount", "candidatesTokenCount"]

const knownOfChunk = new Set(["candidates", "promptFeedback", "usageMetadata"])

const make = (): Builder => {
  const candidates = new Map<number, ReturnType<typeof makeCandidate>>()
  const feedback: Draft = {}
  const others: Draft = {}
  let usage: Json = null
  let isDone = false

  const takeCandidates = (chunk: JsonObject) => {
    const taken = new Set<number>()
    for (const [place, candidate] of list(get(chunk, "candidates")).entries()) {
      if (!isObject(candidate)) continue
      const index = get(candidate, "index")
      // Google leaves out an index of 0. Where several have none, their places tell them apart.
      const unsaid = taken.has(0) ? place : 0
      const key = typeof index === "number" ? index : unsaid
      taken.add(key)
      atPlace(candidates, key, makeCandidate)?.take(candidate)
    }
  }

  return {
    take: (chunk) => {
      takeCandidates(chunk)
      assignSaid(feedback, get(chunk, "promptFeedback"))
      const told = get(chunk, "usageMetadata")
      // Counts are those of the whole stream until now. Some chunks hold the kind of traffic only.
      if (isObject(told)) {
        const isCounting = counts.some((key) => typeof told[key] === "number" && told[key] > 0)
        if (isCounting)
          for (const [key, value] of Object.entries(told)) define(told, key, laterOf(get(usage, key), value))
        usage = isCounting ? told : laterOf(usage, told)
      }
      assignSaid(others, chunk, knownOfChunk)
    },
    done: () => {
      isDone = true
    },
    build: () => {
      const built = byPlace(candidates)
      const output: JsonObject = {
        ...(built.length === 0 ? {} : { candidates: built.map((candidate) => candidate.build()) }),
        ...(isEmpty(feedback) ? {} : { promptFeedback: feedback }),
        ...(usage === null ? {} : { usageMetadata: usage }),
        ...others
      }
      const isFinished = built.length > 0 && built.every((candidate) => candidate.isFinished())
      const isBlocked = !isEmpty(feedback["blockReason"])
      if (errorOf(output) !== null) return { output, ended: "error" }
      return { output, ended: isDone || isFinished || isBlocked ? "done" : "cut" }
    }
  }
}

export const accumulator = (): Accumulator => accumulate(make())
