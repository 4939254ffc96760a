import { execFileSync } from "node:child_process"
import { statfsSync } from "node:fs"
import { dirname } from "node:path"
import * as Ledger from "../harness/Ledger.ts"
import { type Fault, MissingRequirement } from "../harness/Trial.ts"

/** Free space before and after the disk is enlarged (bytes). */
const freeBytes = { small: 3 * 1024 ** 2, large: 32 * 1024 ** 2 }

/** Refused events to wait for. */
const minRefusals = 50

/** Pause after a refused event (ms), so that the reads get processor time. */
const pauseMs = 100

/** How many of the newest events are read while the disk is full. */
const readsWhileFull = 20

/** A slow machine refuses a part of the concurrent events as `overloaded`. */
const expectedRefusals: ReadonlySet<string> = new Set(["503 storage-unavailable", "503 overloaded"])

const mount = (folder: string, size: number, options = "") =>
  execFileSync("/bin/mount", ["-t", "tmpfs", "-o", `size=${size}${options}`, "tmpfs", folder], { stdio: "pipe" })

const usedIn = (folder: string) => {
  const { bfree, blocks, bsize } = statfsSync(folder)
  return (blocks - bfree) * bsize
}

export const diskFull: Fault = {
  name: "disk-full",
  promise:
    "the disk fills up; events get 503, reads still work, and recording resumes without a restart when space is free",
  storages: ["sqlite"],
  rounds: 3,
  // The disk hides the folder of the store.
  needsOwnStore: true,
  run: async (trial) => {
    if (trial.store.kind !== "sqlite") return
    const folder = dirname(trial.store.file)
    try {
      mount(folder, freeBytes.small)
    } catch (error) {
      throw new MissingRequirement(`The fault needs permission to mount a tmpfs: ${String(error).split("\n")[0]}`)
    }
    trial.after(() => execFileSync("/bin/umount", ["-l", folder], { stdio: "pipe" }))
    const resumeTimes: Array<number> = []
    const server = await trial.serve()
    const reader = Ledger.readerOf(server)
    await trial.eachRound(async (round) => {
      mount(folder, usedIn(folder) + freeBytes.small, ",remount")
      // Large events fill the disk soon.
      const load = await trial.load(server, { name: `round ${round}`, clients: 8, size: 10_000, pauseMs })
      await load.refused(minRefusals)
      const reasons = load.entries.flatMap(({ outcome }) => (outcome.kind === "refused" ? [outcome.reason] : []))
      for (const reason of reasons) {
        trial.expect(expectedRefusals.has(reason), `round ${round}: ${reason}`)
      }
      trial.expect(reasons.includes("503 storage-unavailable"), `round ${round}: no event met the full disk`)
      for (const { id, session } of Ledger.acknowledged(load.entries).slice(-readsWhileFull)) {
        const isListed = (await reader.list(session)).includes(id)
        const isRead = (await reader.read(id)) !== undefined
        trial.expect(isListed && isRead, `round ${round}: ${id} cannot be read while the disk is full`)
      }
      mount(folder, usedIn(folder) + freeBytes.large, ",remount")
      const enlargedAt = performance.now()
      await load.acknowledged(1)
      resumeTimes.push(performance.now() - enlargedAt)
      await load.acknowledged(20)
      trial.sent(await load.stop())
    })
    reader.close()
    trial.note(`the first 200 came up to ${Math.round(Math.max(...resumeTimes))} ms after space was freed`)
  }
}
