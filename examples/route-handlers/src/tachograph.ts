import { createTachograph, type Tachograph } from "@tachograph/router"
import { sqlite } from "@tachograph/storage-sqlite"

let opened: Promise<Tachograph> | undefined

/** Opened by the first request: whoever builds the application loads these files too. */
export const open = () => (opened ??= opening())

const opening = async () => {
  try {
    return await createTachograph({ storage: sqlite("tachograph.db"), apiKeys: [process.env.TACHOGRAPH_API_KEY!] })
  } catch (error) {
    // The next request tries again.
    opened = undefined
    throw error
  }
}
