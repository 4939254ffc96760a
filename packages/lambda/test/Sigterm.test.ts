import { sqlite } from "@tachograph/storage-sqlite"
import { HttpClient } from "@tachograph/testkit"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, it, onTestFinished } from "vitest"
import { createHandler } from "../src/index.ts"
import { overLambda } from "./Events.ts"

const key = "a key of the test's own making"
const program = fileURLToPath(new URL("SigtermProcess.ts", import.meta.url))

it("closes the storage on SIGTERM, and ends the process", async () => {
  const directory = mkdtempSync(join(tmpdir(), "tachograph-"))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const file = join(directory, "t.db")
  const child = spawn(process.execPath, [program, file, key], { stdio: ["ignore", "pipe", "inherit"] })
  onTestFinished(() => void child.kill("SIGKILL"))
  const [answered] = await once(child.stdout, "data")
  expect(String(answered)).toBe("200\n")
  // While it is open, SQLite keeps a log beside the file.
  expect(readdirSync(directory)).toContain("t.db-wal")
  child.kill("SIGTERM")
  expect(await once(child, "exit")).toEqual([0, null])
  expect(readdirSync(directory)).toEqual(["t.db"])

  const handler = createHandler({ storage: sqlite(file), apiKeys: [key] })
  onTestFinished(() => handler.close())
  const { body } = await HttpClient.make(overLambda("url", handler), key).get("/api/v1/agents/kept")
  expect(body).toMatchObject({ agent_name: "kept" })
})
