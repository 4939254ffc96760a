/**
 * Takes the pictures of the README and of `docs/viewer.md`: invented conversations in a recorder of its own, looked at with the browser
 * of the tests.
 *
 *     node packages/viewer/test/pictures.ts [FOLDER]
 */
import chromium from "@sparticuz/chromium"
import { MemoryStorage } from "@tachograph/core"
import { createTachograph } from "@tachograph/router"
import { HttpClient } from "@tachograph/testkit"
import { mkdirSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { chromium as playwright, type Page } from "playwright-core"
import * as Desk from "./pictures/Desk.ts"
import * as Harbour from "./pictures/Harbour.ts"
import { Recording } from "./pictures/Recording.ts"
import { recordTraced } from "./Spans.ts"

const folder = process.argv[2] ?? fileURLToPath(new URL("../../../docs/viewer", import.meta.url))
mkdirSync(folder, { recursive: true })

const tachograph = await createTachograph({
  storage: MemoryStorage.layer,
  authorize: () => ({ project: "harbour", scopes: ["admin", "read", "record"] })
})
const server = createServer((request, response) => tachograph.node(request, response))
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

const ask = async (method: string, path: string, body: string): Promise<string> => {
  const answer = await fetch(`${url}/api/v1/${path}`, { method, body, headers: { "content-type": "application/json" } })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
  return text
}

const fingerprint = async (packages: Readonly<Record<string, string>>, commit: string): Promise<string> => {
  const fields = {
    language: "typescript",
    language_version: "24.21.0",
    system: "linux",
    provider2_sdk_version: packages["@anthropic-ai/sdk"],
    all_packages: packages,
    git_commit_hash: commit,
    git_branch: "main",
    git_repository_url: "https://git.example/harbour/desk"
  }
  return JSON.parse(await ask("PUT", "fingerprints", JSON.stringify(fields))).fingerprint_id
}

const recorded = async (now: Date): Promise<void> => {
  const before = await fingerprint({ "@anthropic-ai/sdk": "1.2.0", zod: "4.1.0" }, "4f1c0e9a7b35")
  const after = await fingerprint({ "@anthropic-ai/sdk": "1.4.1", zod: "4.1.0", luxon: "3.7.2" }, "9be27d015c44")
  const recording = new Recording()
  Harbour.record(recording, after, new Date(now.getTime() - 55 * 60_000))
  Desk.record(recording, [before, after], now)
  const answers = await ask("POST", "import", recording.lines())
  const failed = answers.split("\n").find((line) => line.includes('"failed","error"'))
  if (failed !== undefined) throw new Error(failed)
  await recordTraced(HttpClient.open(url, undefined), "tide-desk-0614")
}

interface Picture {
  readonly name: string
  readonly place: string
  /** A text that is there when the page is. */
  readonly shows: string
  readonly theme?: "dark"
  /** What a person does before it is taken. */
  readonly act?: (page: Page) => Promise<unknown>
}

/** The pictures, of these calls of the night. */
const picturesOf = (ids: ReadonlyArray<string>): ReadonlyArray<Picture> => {
  const session = "#/sessions/night-watch-0614"
  const missed = `${session}?call=${ids[6]}`
  return [
    { name: "sessions", place: "#/sessions", shows: "night-watch-0614" },
    { name: "session", place: missed, shows: "low water tomorrow" },
    { name: "session-dark", place: missed, shows: "low water tomorrow", theme: "dark" },
    {
      name: "tool",
      place: `${session}?call=${ids[0]}`,
      shows: "tide_table",
      act: (page) => page.getByText("tide_table").first().click()
    },
    {
      name: "timeline",
      place: "#/sessions/tide-desk-0614?view=timeline",
      shows: "execute_tool forecast",
      act: (page) => page.getByText("execute_tool tide_table").click()
    },
    {
      name: "rewrite",
      place: `#/events/${ids[10]}`,
      shows: "History rewritten",
      act: (page) => page.getByText("What is gone").click()
    },
    { name: "compare", place: "#/agents/harbour-desk/compare?from=1.4.2&to=1.5.0", shows: "Prices are in euros" },
    { name: "overview", place: "#/overview", shows: "claude-haiku-4-5" }
  ]
}

const take = async (page: Page, { act, name, place, shows, theme }: Picture) => {
  await page.emulateMedia({ colorScheme: theme ?? "light" })
  await page.goto(`${url}/viewer/${place}`)
  await page.getByText(shows).filter({ visible: true }).first().waitFor()
  await act?.(page)
  // What is loaded beside it has appeared by then.
  await page.waitForLoadState("networkidle")
  await page.waitForTimeout(600)
  await page.screenshot({ path: join(folder, `${name}.png`) })
  console.log(`${name}.png`)
}

await recorded(new Date())
const browser = await playwright.launch({
  executablePath: await chromium.executablePath(),
  args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
})
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 760 }, deviceScaleFactor: 1.5 })
  const { calls } = JSON.parse(await (await fetch(`${url}/api/v1/sessions/night-watch-0614/calls`)).text()) as {
    readonly calls: ReadonlyArray<{ readonly event_id: string }>
  }
  for (const picture of picturesOf(calls.map(({ event_id }) => event_id))) await take(page, picture)
} finally {
  await browser.close()
  server.close()
  server.closeAllConnections()
  await tachograph.close()
}
