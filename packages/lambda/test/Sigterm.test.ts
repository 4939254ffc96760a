import { sqlite } from "@tachograph/storage-sqlite"
import { HttpClient } from "@tachograph/testkit"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, inject, it, onTestFinished } from "vitest"
import { createHandler } from "../src/index.ts"
import { overLambda } from "./Events.ts"

const key = "a key for the lambda tests"
const program = inject("lambdaSigtermProgram")

it("closes the storage and exits on SIGTERM", async () => {
  const directory = mkdtempSync(join(tmpdir(), "tachograph-"))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const file = join(directory, "t.db")
  const child = spawn(process.execPath, [program, file, key], { stdio: ["ignore", "pipe", "inherit"] })
  onTestFinished(() => void child.kill("SIGKILL"))
  const [output] = await once(child.stdout, "data")
  expect(String(output)).toBe("200\n")
  // The write-ahead log exists while the storage is open.
  expect(readdirSync(directory)).toContain("t.db-wal")
  child.kill("SIGTERM")
  expect(await once(child, "exit")).toEqual([0, null])
  expect(readdirSync(directory)).toEqual(["t.db"])

  const handler = createHandler({ storage: sqlite(file), apiKeys: [key] })
  onTestFinished(() => handler.close())
  const { body } = await HttpClient.make(overLambda("url", handler), key).get("/api/v1/agents/kept")
  expect(body).toMatchObject({ agent_name: "kept" })
})
