import { H3, serve } from "h3"
import * as route from "./route.ts"
import { open } from "./tachograph.ts"

const app = new H3()
app.get("/", () => "Hello from h3\n")
app.all("/api/v1/**", ({ req }) => route.GET(req))

const server = serve(app, {
  hostname: "127.0.0.1",
  port: Number(process.env.PORT ?? 3000),
  // The built-in shutdown would end the process before Tachograph is closed.
  gracefulShutdown: false
})
process.once("SIGTERM", async () => {
  await server.close()
  await (await open()).close()
})
