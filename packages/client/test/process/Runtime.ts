/**
 * Uses the client as an application does, in whatever runtime it is started: `Runtime.ts TACHOGRAPH KEY PROVIDER SPOOL`. Prints what
 * the application saw, as JSON.
 */
import { createRecorder } from "../../src/index.ts"

declare const Deno: { readonly args: ReadonlyArray<string> } | undefined

const given = typeof Deno === "undefined" ? process.argv.slice(2) : Deno.args
const [url = "", apiKey = "", provider = "", spool = ""] = given

const post = (path: string, content: string) =>
  [
    `${provider}${path}`,
    { method: "POST", body: JSON.stringify({ model: "m", stream: true, messages: [{ role: "user", content }] }) }
  ] as const

const recorder = createRecorder({ url, apiKey, agent: "runtime", spool })

const json = await (await recorder.fetch(...post("/chat/completions", "as JSON"))).text()

const stream = await recorder.with({ session: "stream" }, async () => {
  await new Promise((resolve) => setTimeout(resolve, 1))
  return (await recorder.fetch(...post("/messages", "as a stream"))).text()
})

const uninstall = recorder.install()
const installed = await recorder.with({ session: "installed" }, async () =>
  (await fetch(...post("/chat/completions", "by the global fetch"))).text()
)
uninstall()

const left = await recorder.with({ session: "left" }, async () => {
  const { body } = await recorder.fetch(...post("/messages", "half read"))
  const reader = body!.getReader()
  const { value } = await reader.read()
  await reader.cancel()
  return value!.length > 0
})

// What the provider got, without and with the recorder: the length of the body, as it is stated, and a header.
const echoed = async (fetch: typeof globalThis.fetch) => {
  const [url, init] = post("/echo/chat/completions", "as a Request")
  const headers = () => new Map([["x-one", "1"]]).entries()
  const bytes = new TextEncoder().encode(init.body)
  const answers = [
    await fetch(new Request(url, { ...init, headers: [...headers()] })),
    await fetch(url, { ...init, headers: headers() as never }),
    await fetch(url, { ...init, body: bytes, headers: [...headers()] })
  ]
  return Promise.all(answers.map((answer) => answer.text()))
}
const echo = await recorder.with({ session: "echo" }, async () => [await echoed(fetch), await echoed(recorder.fetch)])

const isFlushed = await recorder.flush()
const events: Array<string> = []
for await (const { session } of recorder.api.listEvents.each({ agent: "runtime", limit: 2 })) events.push(session)
console.log(JSON.stringify({ echo, json, stream, installed, left, isFlushed, events, counters: recorder.counters() }))
