import { createHandler } from "@tachograph/lambda"
import { postgres } from "@tachograph/storage-postgres"

export const handler = createHandler({
  storage: postgres(process.env.TACHOGRAPH_STORAGE!),
  apiKeys: [process.env.TACHOGRAPH_API_KEY!]
})
