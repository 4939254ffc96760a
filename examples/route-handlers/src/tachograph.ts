import { createTachograph, type Tachograph } from "@tachograph/router"
import { sqlite } from "@tachograph/storage-sqlite"

let tachograph: Promise<Tachograph> | undefined

/** Opens the storage with the first request, not on import: a build of the application imports this file too. */
export const open = () => (tachograph ??= create())

const create = async () => {
  try {
    return await createTachograph({ storage: sqlite("tachograph.db"), apiKeys: [process.env.TACHOGRAPH_API_KEY!] })
  } catch (error) {
    // Lets the next request try again.
    tachograph = undefined
    throw error
  }
}
