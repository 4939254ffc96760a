import { execFileSync } from "node:child_process"
import { statfsSync } from "node:fs"
import { dirname } from "node:path"
import * as Ledger from "../harness/Ledger.ts"
import { type Fault, LeftOut } from "../harness/Trial.ts"

/** In bytes: what is left to fill, and what is made of room then. */
const room = { small: 3 * 1024 ** 2, large: 32 * 1024 ** 2 }

/** Refusals that are waited for. */
const refusals = 50

/** Events that are read while it is full: the newest. */
const looks = 20

const mount = (folder: string, size: number, more = "") =>
  execFileSync("/bin/mount", ["-t", "tmpfs", "-o", `size=${size}${more}`, "tmpfs", folder], { stdio: "pipe" })

const usedIn = (folder: string) => {
  const { bfree, blocks, bsize } = statfsSync(folder)
  return (blocks - bfree) * bsize
}

export const diskFull: Fault = {
  name: "disk-full",
  promise: "the disk fills; 503, reads go on, and recording resumes without a restart when there is room",
  storages: ["sqlite"],
  rounds: 3,
  run: async (trial) => {
    if (trial.store.kind !== "sqlite") return
    const folder = dirname(trial.store.file)
    try {
      mount(folder, room.small)
    } catch (error) {
      throw new LeftOut(`it needs permission to mount a tmpfs: ${String(error).split("\n")[0]}`)
    }
    trial.after(() => execFileSync("/bin/umount", ["-l", folder], { stdio: "pipe" }))
    const resumed: Array<number> = []
    const server = await trial.serve()
    const reader = Ledger.readerOf(server)
    await trial.eachRound(async (round) => {
      mount(folder, usedIn(folder) + room.small, ",remount")
      // Large enough to fill it soon.
      const load = await trial.load(server, { name: `round ${round}`, clients: 8, size: 10_000 })
      await load.refused(refusals)
      for (const { outcome } of load.entries) {
        if (outcome.is === "refused") {
          trial.expect(outcome.why === "503 storage-unavailable", `round ${round}: ${outcome.why}`)
        }
      }
      for (const { id, session } of Ledger.acknowledged(load.entries).slice(-looks)) {
        const isListed = (await reader.list(session)).includes(id)
        const isRead = (await reader.read(id)) !== undefined
        trial.expect(isListed && isRead, `round ${round}: ${id} cannot be read while the disk is full`)
      }
      mount(folder, usedIn(folder) + room.large, ",remount")
      const began = performance.now()
      await load.acknowledged(1)
      resumed.push(performance.now() - began)
      await load.acknowledged(20)
      trial.sent(await load.stop())
    })
    reader.close()
    trial.note(`the first 200 came up to ${Math.round(Math.max(...resumed))} ms after there was room`)
  }
}
