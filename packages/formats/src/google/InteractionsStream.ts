/** Puts together what Gemini's interactions stream: steps that begin, grow and stop, and the interaction around them. */
import { errorOf } from "../facts/Errors.ts"
import type { Accumulator, Json, JsonObject } from "../Format.ts"
import { define, parsedOrSame } from "../json/ExactJson.ts"
import { get, isEmpty, isObject, list, text } from "../json/Read.ts"
import { accumulator as accumulate, type Builder, endedBy } from "../stream/Accumulate.ts"
import { joinBase64 } from "../stream/Base64.ts"
import { byPlace, makeUses, maxPlaces, type Draft } from "../stream/Draft.ts"
import { lastOf, setTold } from "../stream/Usage.ts"

const typeOf = (value: Json | undefined): string => text(get(value, "type")) ?? ""

/** Types whose wire has `type` behind what they say. */
const typeLast: ReadonlySet<string> = new Set(["thought", "model_output", "user_input", "text"])

const order = (draft: Draft): JsonObject => {
  const { type, ...others } = draft
  return type !== undefined && typeLast.has(typeof type === "string" ? type : "") ? { ...others, type } : draft
}

/** The type of a step that did not begin, by the first of its deltas. */
const stepTypes: ReadonlyMap<string, string> = new Map([
  ["text", "model_output"],
  ["text_annotation_delta", "model_output"],
  ["image", "model_output"],
  ["audio", "model_output"],
  ["video", "model_output"],
  ["document", "model_output"],
  ["thought_summary", "thought"],
  ["thought_signature", "thought"],
  ["arguments_delta", "function_call"]
])

/** Texts of steps that come in pieces, also of those that are new. */
const growing: ReadonlySet<string> = new Set([
  "result",
  "text",
  "output",
  "summary",
  "thinking",
  "reasoning",
  "content"
])

/** One step, or one output of the interactions that had no steps. */
const makeStep = (start: JsonObject) => {
  const draft: Draft = { ...start }
  /** Lists of contents that are built here. */
  const lists = new Map<string, Array<Draft>>()
  /** Base64 of a sound that goes on. */
  const sounds = new Map<Draft, Array<string>>()
  let written = ""

  const listAt = (key: string): Array<Draft> => {
    let contents = lists.get(key)
    if (contents === undefined) {
      contents = list(draft[key]).map((content) => (isObject(content) ? { ...content } : (content as unknown as Draft)))
      lists.set(key, contents)
    }
    return contents
  }

  /** The text that grows: the last of the contents, or the step itself where it is one. */
  const textAt = (key: string): Draft => {
    if (typeOf(draft) === "text") return draft
    const contents = listAt(key)
    const last = contents.at(-1)
    if (last !== undefined && typeOf(last) === "text") return last
    const content: Draft = { text: "", type: "text" }
    contents.push(content)
    return content
  }

  const addText = (key: string, content: Json | undefined) => {
    const target = textAt(key)
    target["text"] = `${text(target["text"]) ?? ""}${text(get(content, "text")) ?? ""}`
    addAnnotations(target, get(content, "annotations"))
  }

  const annotated = new Set<Draft>()

  const addAnnotations = (target: Draft, annotations: Json | undefined) => {
    if (isEmpty(annotations) || !Array.isArray(annotations)) return
    if (!annotated.has(target)) target["annotations"] = [...list(target["annotations"])]
    annotated.add(target)
    for (const annotation of annotations) (target["annotations"] as Array<Json>).push(annotation as Json)
  }

  const addMedia = (content: JsonObject) => {
    const target = typeOf(draft) === typeOf(content) ? draft : null
    const last = target ?? listAt("content").at(-1)
    const mimeType = get(content, "mime_type") ?? get(last, "mime_type")
    const data = text(content["data"])
    const isNext = typeOf(last) === "audio" && typeOf(content) === "audio" && get(last, "mime_type") === mimeType
    if (isNext && data !== null && last !== undefined && text(last["data"]) !== null) {
      const pieces = sounds.get(last) ?? [last["data"] as string]
      sounds.set(last, pieces)
      pieces.push(data)
    } else if (target === null) listAt("content").push({ ...content })
    else change(content)
  }

  /** Texts, what was found and lists of it grow, and anything else is what came last. */
  const change = (fields: JsonObject) => {
    for (const [key, value] of Object.entries(fields)) {
      const before = Object.hasOwn(draft, key) ? draft[key] : undefined
      if (key === "type" || value === null || value === "" || (isEmpty(value) && before !== undefined)) continue
      if (key === "result" && Array.isArray(value) && Array.isArray(before)) {
        for (const item of value) before.push(item)
      } else if (growing.has(key) && typeof value === "string" && typeof before === "string")
        draft[key] = before + value
      else define(draft, key, Array.isArray(value) ? [...value] : value)
    }
  }

  const take = (delta: JsonObject) => {
    const type = typeOf(delta)
    if (type === "text") addText("content", delta)
    else if (type === "text_annotation_delta" || type === "text_annotation")
      addAnnotations(textAt("content"), delta["annotations"])
    else if (type === "thought_summary" && typeOf(get(delta, "content")) === "text")
      addText("summary", get(delta, "content"))
    else if (type === "thought_summary" && isObject(delta["content"])) listAt("summary").push({ ...delta["content"] })
    else if (type === "arguments_delta" && typeof delta["arguments"] === "string") written += delta["arguments"]
    else if (type === "image" || type === "audio" || type === "video" || type === "document") addMedia(delta)
    else change(delta)
  }

  const build = (): JsonObject => {
    for (const [sound, pieces] of sounds) {
      const joined = joinBase64(pieces)
      pieces.splice(0, pieces.length, joined)
      sound["data"] = joined
    }
    const built: Draft = { ...draft }
    // A signature that is empty is none.
    if (built["signature"] === "") delete built["signature"]
    for (const [key, contents] of lists) define(built, key, contents.map(order))
    if (written !== "") built["arguments"] = parsedOrSame(written)
    return order(built)
  }

  return { take, build }
}

/** The steps by their index. */
const makeSteps = () => {
  const steps = new Map<number, ReturnType<typeof makeStep>>()
  const grown = new Set<number>()
  const uses = makeUses()
  let last = -1

  const placeOf = (event: JsonObject, fallback: number): number => {
    const index = get(event, "index")
    return typeof index === "number" ? uses.placeOf(index) : fallback
  }

  const start = (event: JsonObject, step: JsonObject) => {
    const index = get(event, "index")
    // What begins where a step has grown is another one.
    if (typeof index === "number" && grown.has(placeOf(event, index))) uses.again(index)
    last = placeOf(event, Math.floor(last) + 1)
    if (steps.has(last) || steps.size < maxPlaces) steps.set(last, makeStep(step))
  }

  return {
    start,
    grow: (event: JsonObject, delta: JsonObject, isLegacy: boolean) => {
      const place = placeOf(event, Math.max(last, 0))
      const type = typeOf(delta)
      const legacy = type === "text_annotation" ? "text" : type
      const found = stepTypes.get(type)
      if (!steps.has(place)) start(event, { type: isLegacy && found === "model_output" ? legacy : (found ?? type) })
      if (steps.has(place)) grown.add(place)
      steps.get(place)?.take(delta)
    },
    size: () => steps.size,
    build: () => byPlace(steps).map((step) => step.build())
  }
}

const endings: ReadonlySet<string> = new Set(["interaction.completed", "interaction.complete"])

/** The interaction with its steps where they stand on the wire. */
const withSteps = (interaction: JsonObject, key: string, steps: Json): JsonObject => {
  const entries = Object.entries(interaction).filter(([name]) => name !== key)
  const place = entries.findIndex(([name]) => name === "object")
  return Object.fromEntries(entries.toSpliced(place === -1 ? entries.length : place, 0, [key, steps]))
}

/** Fields of a status update that are the event's own. */
const ofEvent: ReadonlySet<string> = new Set(["event_type", "event_id", "interaction_id", "metadata"])

const make = (): Builder => {
  /** The interaction as it was last told, and as it ended. */
  const told: Draft = {}
  let ended: JsonObject | null = null
  let error: Json | undefined
  let isDone = false
  let stepsKey: "steps" | "outputs" = "steps"
  const steps = makeSteps()

  const tell = (fields: JsonObject, except: ReadonlySet<string> = new Set()) => {
    for (const [key, value] of Object.entries(fields)) {
      if (!except.has(key)) setTold(told, key, value)
    }
  }

  const takeStatus = (update: JsonObject) => {
    const id = get(update, "interaction_id")
    if (!isEmpty(id)) define(told, "id", id)
    tell(update, ofEvent)
  }

  const takeStep = (type: string, payload: JsonObject) => {
    const isStart = type.endsWith(".start")
    if (isStart || steps.size() === 0) stepsKey = type.startsWith("step.") ? "steps" : "outputs"
    const [begun, delta] = [get(payload, stepsKey === "steps" ? "step" : "content"), get(payload, "delta")]
    if (isStart) steps.start(payload, isObject(begun) ? begun : {})
    else if (isObject(delta)) steps.grow(payload, delta, stepsKey === "outputs")
  }

  /** One answer that was not streamed. */
  const takeWhole = (interaction: JsonObject) => {
    tell(interaction)
    const status = text(get(interaction, "status"))
    isDone ||= status !== null && status !== "in_progress"
  }

  return {
    take: (payload, event) => {
      const type = text(get(payload, "event_type")) ?? event
      const interaction = get(payload, "interaction")
      const usage = get(payload, "metadata", "usage") ?? get(payload, "metadata", "total_usage")
      if (isObject(usage)) tell({ usage })
      if (type === "error" || (type === "" && isObject(get(payload, "error")))) error = get(payload, "error") ?? payload
      else if (endings.has(type)) {
        isDone = true
        if (isObject(interaction)) ended = interaction
      } else if (isObject(interaction)) tell(interaction)
      else if (type === "interaction.status_update") takeStatus(payload)
      else if (/^(?:step|content)\.(?:start|delta)$/.test(type)) takeStep(type, payload)
      else if (type === "") takeWhole(payload)
    },
    done: () => {
      isDone = true
    },
    build: () => {
      // The last event leaves out what it has nothing new to say of, above all the steps.
      const missing = Object.entries(told).filter(([key]) => isEmpty(get(ended, key)))
      const whole: Draft = { ...ended, ...Object.fromEntries(missing) }
      if (!isEmpty(whole["usage"])) define(whole, "usage", lastOf(told["usage"], get(ended, "usage")))
      const built = steps.size() > 0 && isEmpty(whole[stepsKey]) ? withSteps(whole, stepsKey, steps.build()) : whole
      const output = error === undefined ? built : { ...built, error }
      return { output, ended: endedBy(errorOf(output) !== null, isDone) }
    }
  }
}

export const accumulator = (): Accumulator => accumulate(make())
