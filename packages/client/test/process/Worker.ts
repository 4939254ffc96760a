/** A Worker of Cloudflare that passes a model's answer on as it comes. All of its requests share one recorder. */
import { createRecorder, type Recorder } from "../../src/index.ts"

interface Env {
  readonly TACHOGRAPH_URL: string
  readonly TACHOGRAPH_API_KEY: string
  readonly PROVIDER_URL: string
}

let recorder: Recorder | undefined

export default {
  fetch: (request: Request, env: Env, ctx: { readonly waitUntil: (promise: Promise<unknown>) => void }) => {
    const shared = (recorder ??= createRecorder({
      url: env.TACHOGRAPH_URL,
      apiKey: env.TACHOGRAPH_API_KEY,
      agent: "worker"
    }))
    return shared.with({ waitUntil: ctx.waitUntil.bind(ctx) }, async (bound) => {
      const body = JSON.stringify({ model: "m", stream: true, messages: [{ role: "user", content: request.url }] })
      const answer = await bound.fetch(`${env.PROVIDER_URL}/messages`, { method: "POST", body })
      return new Response(answer.body, { headers: { "x-counters": JSON.stringify(shared.counters()) } })
    })
  }
}
