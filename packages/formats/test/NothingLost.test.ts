/** Whatever a provider adds to a call, or writes in another type than before, is somewhere in the normal form. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type Api, type Format, formats, type Json } from "@tachograph/formats"
import { modelOutput, responseMessages } from "./data/AiSdk.ts"
import * as ChatCompletions from "./data/ChatCompletions.ts"
import { everyStep } from "./data/Interactions.ts"
import { everyBlock } from "./data/Messages.ts"
import { everyPart } from "./data/Models.ts"
import * as Responses from "./data/Responses.ts"

type Path = ReadonlyArray<string | number>

interface Call {
  readonly inputs: object
  readonly output: object
  /** Where the messages and the answer stand, in `{ inputs, output }`. */
  readonly places: ReadonlyArray<Path>
}

const anthropic = {
  system: [{ type: "text", text: "Be brief." }],
  tools: [{ name: "note", description: "Notes.", input_schema: { type: "object" } }],
  messages: [
    {
      role: "user",
      content: [
        { type: "text", text: "What is it?" },
        { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw==" } },
        { type: "document", source: { type: "url", url: "https://example.com/a.pdf" }, title: "A" },
        { type: "image", source: { type: "file", file_id: "file_1" } }
      ]
    },
    everyBlock.output,
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "toolu_1", content: [{ type: "text", text: "Noted" }], is_error: true },
        { type: "tool_result", tool_use_id: "toolu_2", content: "Noon" }
      ]
    }
  ]
}

const messages: Call = {
  inputs: anthropic,
  output: everyBlock.output,
  places: [
    ["inputs", "messages"],
    ["inputs", "system"],
    ["inputs", "tools"],
    ["output", "content"]
  ]
}

const calls: Record<Api, Call> = {
  "provider1-chat-completions": {
    inputs: ChatCompletions.conversation.inputs,
    output: ChatCompletions.openAi.output,
    places: [
      ["inputs", "messages"],
      ["inputs", "tools"],
      ["output", "choices"]
    ]
  },
  "provider1-responses": {
    inputs: Responses.conversation.inputs,
    output: Responses.openAi.output,
    places: [
      ["inputs", "input"],
      ["inputs", "tools"],
      ["output", "output"]
    ]
  },
  "provider2-messages": messages,
  "provider2-beta-messages": messages,
  "provider3-models": {
    inputs: everyPart.inputs,
    output: everyPart.output,
    places: [
      ["inputs", "contents"],
      ["inputs", "tools"],
      ["inputs", "systemInstruction"],
      ["output", "candidates"]
    ]
  },
  "provider3-interactions": {
    inputs: everyStep.inputs,
    output: everyStep.output,
    places: [
      ["inputs", "input"],
      ["inputs", "tools"],
      ["inputs", "system_instruction"],
      ["output", "steps"]
    ]
  },
  aisdk: {
    inputs: { messages: responseMessages },
    output: modelOutput,
    places: [
      ["inputs", "messages"],
      ["output", "content", 0],
      ["output", "content", 1],
      ["output", "content", 2]
    ]
  }
}

/** The mark, which no recorded call has. */
const mark = "a mark that is found again 7Q"

/** Names of fields of the normal form and of blocks, and one that nobody has. */
const keys = [
  ...["novelty", "type", "role", "name", "parts", "finish_reason", "content", "id", "arguments", "response", "uri"],
  ...["tool_type", "item_id", "summary", "mime_type", "modality", "file_id", "provider_content", "text", "__proto__"]
]

/** What stands in place of a value. */
const odd: ReadonlyArray<Json> = [
  mark,
  [mark],
  [[mark]],
  { novelty: mark },
  { type: mark },
  { type: "text", text: mark },
  [{ type: "text", text: mark, id: 1 }],
  { content: mark },
  { parts: { text: mark } },
  { role: { novelty: mark } },
  { name: [mark] }
]

const at = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((inner, key) => (inner as Record<string | number, unknown>)[key], value)

/** Each path below one, and itself. */
const pathsIn = (value: unknown, path: Path): ReadonlyArray<Path> =>
  typeof value === "object" && value !== null
    ? [
        path,
        ...Object.entries(value).flatMap(([key, inner]) =>
          pathsIn(inner, [...path, Array.isArray(value) ? Number(key) : key])
        )
      ]
    : [path]

/** The call with another value at a path. */
const changed = (call: unknown, path: Path, value: Json): { readonly inputs: unknown; readonly output: unknown } => {
  const copy = structuredClone(call) as { readonly inputs: unknown; readonly output: unknown }
  Object.defineProperty(at(copy, path.slice(0, -1)), path.at(-1) as PropertyKey, {
    value: structuredClone(value),
    enumerable: true,
    writable: true,
    configurable: true
  })
  return copy
}

interface Change {
  readonly path: Path
  readonly value: Json
}

/** Gemini has two names for each field, of which a call has one. */
const camel = (key: string) => key.replace(/(?<=[a-z])_[a-z]/g, (letter) => letter.slice(1).toUpperCase())

/** Every object with a new key, and every value replaced. */
const changesOf = ({ places, ...call }: Call): ReadonlyArray<Change> =>
  places
    .flatMap((place) => pathsIn(at(call, place), place))
    // Marks for caches are left out, and so is what they hold.
    .filter((path) => !path.includes("cache_control"))
    .flatMap((path) => {
      const value = at(call, path)
      const isObject = typeof value === "object" && value !== null && !Array.isArray(value)
      const free = isObject ? keys.filter((key) => !Object.hasOwn(value, key) && !Object.hasOwn(value, camel(key))) : []
      return [
        ...free.flatMap((key) => [mark, { novelty: mark }].map((item) => ({ path: [...path, key], value: item }))),
        ...odd.map((item) => ({ path, value: item }))
      ]
    })

const all = Object.entries(formats) as unknown as ReadonlyArray<readonly [Api, Format<unknown>]>

describe.each(all)("a call in the format %s", (api, format) => {
  const call = calls[api]
  const changes = changesOf(call)

  it("loses no field that is new, and no value of another type", () => {
    const lost = changes.filter(({ path, value }) => {
      const { inputs, output } = changed(call, path, value)
      return !JSON.stringify(format.messages(inputs, output)).includes(mark)
    })
    expect(lost.map(({ path, value }) => `${path.join(".")}: ${JSON.stringify(value)}`)).toEqual([])
  })

  it("is read without an exception, however much of it is odd", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...changes), { minLength: 2, maxLength: 6 }), (some) => {
        const { inputs, output } = some.reduce<{ readonly inputs: unknown; readonly output: unknown }>(
          (before, { path, value }) => {
            const holder = path.slice(0, -1).reduce<unknown>((inner, key) => Object(inner)[key], before)
            return typeof holder === "object" && holder !== null ? changed(before, path, value) : before
          },
          call
        )
        for (const message of format.messages(inputs, output).output) expect(typeof message.role).toBe("string")
      })
    )
  })
})

// A response repeats the request, and a result of the AI SDK its steps, so that these are read by name.
const whole = all.filter(([api]) => api !== "provider1-responses" && api !== "aisdk")

it.each(whole)("loses nothing new that stands beside the answer in the format %s", (api, format) => {
  const { inputs, output } = calls[api]
  for (const value of odd) {
    const normal = format.messages(inputs, { ...output, novelty: value })
    expect(JSON.stringify(normal), JSON.stringify(value)).toContain(mark)
  }
})
