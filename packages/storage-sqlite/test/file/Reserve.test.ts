import { existsSync, mkdirSync, statSync } from "node:fs"
import { expect, it } from "vitest"
import * as Reserve from "../../src/file/Reserve.ts"
import { temporaryFile } from "../TemporaryFile.ts"

it("is there after two processes have made it at once", async () => {
  const path = temporaryFile()
  await Promise.all([Reserve.make(path), Reserve.make(path)])
  expect(statSync(`${path}-reserve`).mode & 0o777).toBe(0o600)
  Reserve.release(path)
  expect(existsSync(`${path}-reserve`)).toBe(false)
})

it("lets an erasure go on that cannot remove it", () => {
  const path = temporaryFile()
  mkdirSync(`${path}-reserve`)
  Reserve.release(path)
  expect(existsSync(`${path}-reserve`)).toBe(true)
})
