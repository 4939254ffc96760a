/** From the empty page to the first session, by each way that can run here, with what was copied from the page. */
import { ApiKeys, Name, ProjectId } from "@tachograph/core"
import { sqlite } from "@tachograph/storage-sqlite"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { BrowserContextOptions, Page } from "playwright-core"
import { describe, expect, it, onTestFinished } from "vitest"
import { problemsOf } from "../Accessibility.ts"
import { open, openWithKey } from "../Browser.ts"
import { Conversation, registered, text, user } from "../Conversation.ts"
import { emitter, project, type } from "../first/Newcomer.ts"
import { startProvider } from "../first/Provider.ts"
import { apiKey, start } from "../Server.ts"

const clipboard: BrowserContextOptions = { permissions: ["clipboard-read", "clipboard-write"] }

/** A provider, a server that has recorded nothing and passes calls on to it, and its page. */
const begin = async () => {
  const provider = await startProvider()
  const upstreams = { openai: `${provider.url}/v1`, anthropic: provider.url }
  const server = await start(undefined, undefined, { proxy: { upstreams } })
  onTestFinished(() => server.close())
  const { complaints, foreign, page } = await openWithKey(`${server.url}/viewer/`, apiKey, clipboard)
  await page.getByText("Waiting for the first call").waitFor()
  onTestFinished(() => expect([complaints, foreign]).toEqual([[], []]))
  const env = {
    ...{ OPENAI_API_KEY: "sk-planted-openai", OPENAI_BASE_URL: `${provider.url}/v1` },
    ...{ ANTHROPIC_API_KEY: "sk-planted-anthropic" }
  }
  return { env, page, provider, server }
}

/** What the button of a way copies. */
const copied = async (page: Page, way: string, title: string): Promise<string> => {
  await page.getByRole("tab", { name: way }).click()
  await page.getByRole("button", { name: `Copy: ${title}` }).click()
  await page.getByText("Copied", { exact: true }).waitFor()
  return page.evaluate(() => navigator.clipboard.readText())
}

/** The page has opened the session in which this was said. */
const arrives = async (page: Page, said: string): Promise<void> => {
  await page.waitForURL((url) => url.hash.startsWith("#/sessions/"))
  await page.locator(".said").getByText(said, { exact: true }).first().waitFor()
}

/** A server over a file, and a key that reads another project than the default one. */
const withReadingKey = async () => {
  const folder = mkdtempSync(join(tmpdir(), "tachograph-first-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const storage = sqlite(join(folder, "tachograph.db"))
  const attributes = {
    project: ProjectId.make("the project"),
    scopes: ["read"],
    name: Name.make("r"),
    expiresAt: null
  } as const
  const issued = Effect.flatMap(ApiKeys, (keys) => keys.issue(attributes))
  const [secret] = await Effect.runPromise(Effect.provide(issued, ApiKeys.layer().pipe(Layer.provide(storage))))
  const server = await start(storage, undefined, { proxy: true })
  onTestFinished(() => server.close())
  return { key: Redacted.value(secret), server }
}

/** As Claude Code and Codex call their providers: by the SDKs of these. */
const callAnthropic = `
import Anthropic from "@anthropic-ai/sdk"
const messages = [{ role: "user", content: "Hello" }]
await new Anthropic().messages.create({ model: "claude-sonnet-5", max_tokens: 100, messages })`
const callOpenAi = `
import OpenAI from "openai"
const { KEY_OF_CODEX: apiKey, URL_OF_CODEX: baseURL, HEADERS_OF_CODEX: headers } = process.env
await new OpenAI({ apiKey, baseURL, defaultHeaders: JSON.parse(headers) }).responses.create({ model: "gpt-5", input: "Hello" })`

/** Values of Codex's file: a text, and the entries of a table that is written within a line. */
const lineIn = (toml: string, name: string): string =>
  new RegExp(`^model_providers\\.tachograph\\.${name} = (.*)$`, "m").exec(toml)![1]!
const valueIn = (toml: string, name: string): string => JSON.parse(lineIn(toml, name)) as string
const tableIn = (toml: string, name: string): string => lineIn(toml, name).replaceAll('" = "', '": "')

export const define = () => {
  describe("the first minute", () => {
    it("records Anthropic's calls that Claude Code makes in the shell where the text was pasted", async () => {
      const { env, page, provider } = await begin()
      const folder = project({ claude: `#!/bin/sh\nexec node claude.js\n`, "claude.js": callAnthropic })
      await type(folder, await copied(page, "Claude Code", "In a shell"), env)
      await arrives(page, "Hello yourself.")
      const [path, headers] = provider.requests[0]!
      expect([path, headers.authorization, headers["x-tachograph-key"]]).toEqual([
        ...["/v1/messages", "Bearer sk-planted-anthropic", undefined]
      ])
    })

    it("records OpenAI's calls that Codex makes with the pasted configuration", async () => {
      const { env, page, provider } = await begin()
      const toml = await copied(page, "Codex", "At the beginning of ~/.codex/config.toml")
      expect(toml.split("\n")[0]).toBe(`model_provider = "tachograph"`)
      await type(project({ "codex.js": callOpenAi }), "node codex.js", {
        KEY_OF_CODEX: env[valueIn(toml, "env_key") as "OPENAI_API_KEY"],
        URL_OF_CODEX: valueIn(toml, "base_url"),
        HEADERS_OF_CODEX: tableIn(toml, "http_headers")
      })
      await arrives(page, "Hello yourself.")
      expect(provider.requests.map(([path]) => path)).toEqual(["/v1/responses"])
    })

    it.each([
      ["OpenAI's SDK", "/v1/responses"],
      ["Anthropic's SDK", "/v1/messages"],
      // Not by the proxy: to the provider itself.
      ["recorder.fetch", "/v1/chat/completions"]
    ])("records the program of %s that was pasted into a file", async (way, path) => {
      const { env, page, provider } = await begin()
      const folder = project({ "app.js": await copied(page, way, "JavaScript") })
      expect(await type(folder, "node app.js", env)).toContain("Hello yourself.")
      await arrives(page, "Hello yourself.")
      expect(provider.requests.map(([path]) => path)).toEqual([path])
    })

    it.each(["OpenAI's SDK", "Anthropic's SDK"])("names what %s records", async (way) => {
      const { env, page, server } = await begin()
      // The same headers in Python, which needs no module for a key that is there.
      const python = await copied(page, way, "Python")
      expect(python.match(/"X-Tachograph-[^,}]*/g)).toHaveLength(5)
      expect(python).not.toContain("import os")
      await type(project({ "app.js": await copied(page, way, "JavaScript") }), "node app.js", env)
      await arrives(page, "Hello yourself.")
      expect((await server.client.get("/api/v1/sessions")).body.sessions).toMatchObject([
        { session: "session-1", agents: ["my-app"], agent_versions: ["v1"], people: ["ann"] }
      ])
    })

    it.each(["recorder.fetch", "--import"])(
      "says how to install what %s needs, as the documentation does",
      async (way) => {
        const { page } = await begin()
        const text = await copied(page, way, "Once: install the client")
        const docs = readFileSync(new URL("../../../../docs/embed.md", import.meta.url), "utf8").split("\n")
        const commands = text.split("\n").filter((line) => /^np[mx] /.test(line))
        expect(commands).toHaveLength(4)
        for (const command of commands) expect(docs).toContain(command)
      }
    )

    it("records a program that stays as it is, by --import", async () => {
      const { env, page } = await begin()
      const program = `import OpenAI from "openai"
const messages = [{ role: "user", content: "Hello" }]
console.log((await new OpenAI().chat.completions.create({ model: "gpt-5", messages })).choices[0].message.content)`
      const folder = project({ "app.js": program })
      expect(await type(folder, await copied(page, "--import", "In a shell"), env)).toBe("Hello yourself.\n")
      await arrives(page, "Hello yourself.")
    })

    it("records a program that emits OpenTelemetry", async () => {
      const { env, page } = await begin()
      const text = await copied(page, "OpenTelemetry", "In a shell")
      expect(await type(project({}), `${text}\nnode ${emitter}`, env)).toBe("Hello yourself.\n")
      await arrives(page, "Hello yourself.")
    })

    it("records what curl sends", async () => {
      const { env, page, server } = await begin()
      await type(project({}), await copied(page, "curl", "In a shell"), env)
      await arrives(page, "Hi!")
      expect((await server.client.get("/api/v1/sessions")).body.sessions).toMatchObject([
        { people: ["ann"], input_tokens: 8, output_tokens: 5, cost_usd: "0.000099" }
      ])
      // What was opened by itself is left as anything else.
      await page.goBack()
      await page.getByRole("row").filter({ hasText: "Hello" }).waitFor()
      await expect.poll(() => page.url()).not.toContain("#/sessions/")
    })

    it("shows all sessions where several come at once", async () => {
      const { page, server } = await begin()
      await page.route("**/api/v1/sessions*", (route) => route.abort())
      const fingerprint = await registered(server.client)
      for (const name of ["one", "another"]) {
        await new Conversation(server.client, fingerprint, name).call([user(`Ask ${name}`)], [text("Answer")])
      }
      await page.unroute("**/api/v1/sessions*")
      await page.getByRole("row").filter({ hasText: "Ask another" }).waitFor()
      expect(page.url()).not.toContain("#/sessions/")
    })

    it("hides the key until it is asked for, at any width, accessibly, and by keys", async () => {
      const { page } = await begin()
      const shown = page.locator(".record pre").first()
      expect(await shown.innerText()).not.toContain(apiKey)
      expect(await problemsOf(page)).toEqual([])
      await page.getByRole("button", { name: "Show the key" }).click()
      expect(await shown.innerText()).toContain(apiKey)
      await page.getByRole("button", { name: "Hide the key" }).click()
      await page.getByRole("tab", { selected: true }).focus()
      await page.keyboard.press("ArrowLeft")
      await page.getByRole("tab", { name: "curl", selected: true }).waitFor()
      await page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" })
      await page.setViewportSize({ width: 400, height: 800 })
      for (const name of await page.getByRole("tab").allInnerTexts()) {
        await page.getByRole("tab", { name, exact: true }).click()
        expect([name, await problemsOf(page, "colors")]).toEqual([name, []])
        expect([name, await page.evaluate(() => document.documentElement.scrollWidth)]).toEqual([name, 400])
      }
    })
  })

  describe("the ways to record", () => {
    it("say how to switch the proxy on, begin with one that needs none, and know when it is on", async () => {
      const server = await start()
      onTestFinished(() => server.close())
      const { page } = await openWithKey(`${server.url}/viewer/`, apiKey)
      await page.getByRole("tab", { name: "recorder.fetch", selected: true }).waitFor()
      expect(await page.getByText("The proxy of this server is off").count()).toBe(0)
      await page.getByRole("tab", { name: "Claude Code" }).click()
      await page.getByText("The proxy of this server is off").waitFor()
    })

    it("have the address of a server that is mounted below a path", async () => {
      const server = await start(undefined, undefined, { basePath: "/tools/recorder" })
      onTestFinished(() => server.close())
      const { page } = await openWithKey(`${server.url}/tools/recorder/viewer/#/record?way=opentelemetry`, apiKey)
      const shown = page.locator(".record pre")
      expect(await shown.innerText()).toContain(`OTEL_EXPORTER_OTLP_ENDPOINT=${server.url}/tools/recorder/otlp`)
    })

    it("leave the key to the environment where the host decides who may", async () => {
      const server = await start(undefined, ["record", "read"])
      onTestFinished(() => server.close())
      const { page } = await open(`${server.url}/viewer/#/?way=curl`)
      await page.getByText("The application that serves it decides who may record").waitFor()
      expect(await page.locator(".record pre").innerText()).toContain('"Authorization: Bearer $TACHOGRAPH_API_KEY"')
    })

    it("do not copy a key that only reads, and say how to make one that records", async () => {
      const { key, server } = await withReadingKey()
      const { page } = await openWithKey(`${server.url}/viewer/`, key)
      // The server's own thread knows that the proxy is on.
      await page.getByRole("tab", { name: "Claude Code", selected: true }).waitFor()
      await page.getByText("The key of this page may read, and not record.").waitFor()
      await page.getByText("tachograph keys create --scope record --name my-app --project 'the project'").waitFor()
      expect(await page.locator(".record pre").innerText()).toContain('"X-Tachograph-Key: $TACHOGRAPH_API_KEY"')
    })

    it("copy where the browser has no clipboard, as over plain HTTP", async () => {
      const server = await start()
      onTestFinished(() => server.close())
      const { page } = await openWithKey(`${server.url}/viewer/#/record?way=curl`, apiKey, clipboard)
      await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: undefined, configurable: true }))
      await page.getByRole("button", { name: "Copy: In a shell" }).click()
      await page.getByText("Copied", { exact: true }).waitFor()
      await page.evaluate(() => delete (navigator as { clipboard?: unknown }).clipboard)
      expect(await page.evaluate(() => navigator.clipboard.readText())).toContain(`Bearer ${apiKey}`)
    })
  })
}
