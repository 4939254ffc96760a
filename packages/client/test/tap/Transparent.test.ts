/** The same calls with and without the tap: an application sees no difference, whichever `fetch` is below. */
import { fetch as undici } from "undici"
import { beforeAll, describe, expect, it } from "vitest"
import { type Provider, startProvider } from "../Provider.ts"
import { startRecording } from "../Recording.ts"
import { messages } from "../sdk/Wire.ts"
import { noted, scenarios } from "./Seen.ts"

let provider: Provider

beforeAll(async () => {
  provider = await startProvider()
})

const init = { method: "POST", body: JSON.stringify(messages.request) }

class OwnResponse extends Response {
  readonly mine = "mine"
  async own() {
    return `${this.mine} ${await Response.prototype.text.call(this)}`
  }
  get words() {
    return `${this.mine} ${this.status}`
  }
}

class PrivateResponse extends Response {
  readonly #secret = "private"
  get words() {
    return `${this.#secret} ${this.status}`
  }
}

type Fetch = typeof globalThis.fetch

const asClass =
  (Class: typeof Response): Fetch =>
  async (...args) => {
    const response = await fetch(...args)
    return new Class(response.body, { headers: response.headers, status: response.status })
  }

const fetches: Readonly<Record<string, Fetch>> = {
  "the global fetch": (...args) => globalThis.fetch(...args),
  "that of undici": undici as unknown as Fetch,
  "one that answers with a class of its own": asClass(OwnResponse),
  "one whose class has private fields": asClass(PrivateResponse),
  "one that adds properties": async (...args) => Object.assign(await fetch(...args), { attempts: 3 }),
  "one that adds methods": async (...args) => {
    const response = await fetch(...args)
    const text = response.text.bind(response)
    return Object.assign(response, { text: async () => `wrapped ${await text()}` })
  },
  "one with chunks that are no bytes": async (...args) => {
    const { body } = await fetch(...args)
    return new Response(body!.pipeThrough(new TransformStream({ transform: (chunk, to) => to.enqueue(chunk) })))
  }
}

const answers: Readonly<Record<string, readonly [status: number, type: string]>> = {
  "a stream": [200, "text/event-stream"],
  "an error": [500, "text/plain"]
}

describe.each(Object.keys(fetches))("with %s", (below) => {
  describe.each(Object.keys(answers))("%s", (answer) => {
    it.each(Object.keys(scenarios))("is the same with the tap: %s", async (name) => {
      const [status, type] = answers[answer]!
      const recording = await startRecording({ fetch: fetches[below]! })
      const run = async (fetch: Fetch) => {
        let goOn = () => {}
        const gone = new Promise<void>((resolve) => (goOn = resolve))
        provider.answer = async (response) => {
          response.writeHead(status, { "content-type": type, "x-one": "1" })
          response.write(messages.chunks[0])
          await gone
          response.end(messages.chunks.slice(1).join(""))
        }
        return noted(name, fetch, `${provider.url}/v1/messages`, goOn, init)
      }
      const plain = await run(fetches[below]!)
      expect(await run(recording.recorder.fetch)).toEqual(plain)
      expect(plain.length).toBeGreaterThan(0)
    })
  })
})

describe("an answer that cannot be another object", () => {
  it.each(["one whose class has private fields", "one that adds methods"])("is counted: %s", async (below) => {
    const recording = await startRecording({ fetch: fetches[below]! })
    provider.answer = (response) => void response.end("{}")
    expect(await (await recording.recorder.fetch(`${provider.url}/v1/messages`, init)).text()).toContain("{}")
    expect(await recording.events()).toEqual([])
    expect(recording.drops).toEqual([{ reason: "unreadable" }])
  })
})
