import { open } from "./tachograph.ts"

export const GET = async (request: Request) => (await open()).fetch(request)
export { GET as DELETE, GET as POST, GET as PUT }
