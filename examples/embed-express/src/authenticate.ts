/** The application's own authentication. */
import type { RequestHandler } from "express"

interface User {
  readonly name: string
  readonly isAdmin: boolean
}

declare global {
  namespace Express {
    interface Request {
      user?: User
    }
  }
}

const users = new Map<string | undefined, User>([
  ["Bearer token-of-ada", { name: "ada", isAdmin: true }],
  ["Bearer token-of-bob", { name: "bob", isAdmin: false }]
])

export const authenticate: RequestHandler = (request, response, next) => {
  const user = users.get(request.get("authorization"))
  if (user === undefined) return response.status(401).json({ error: "Who are you?" })
  request.user = user
  return next()
}
