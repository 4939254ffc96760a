import { createRecorder } from "@tachograph/client"
import { createTachograph } from "@tachograph/router"
import { sqlite } from "@tachograph/storage-sqlite"
import type { Request } from "express"

export const tachograph = await createTachograph({
  storage: sqlite("tachograph.db"),
  basePath: "/tachograph",
  authorize: ({ source }) => ((source as Request).user?.isAdmin ? { project: "default", scopes: ["admin"] } : null)
})

export const recorder = createRecorder({ tachograph })

/** Waits for the calls that are not stored yet, before the storage closes. */
export const close = async () => {
  await recorder.flush()
  await tachograph.close()
}
