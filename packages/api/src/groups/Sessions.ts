import { SessionId } from "@tachograph/core/domain/Session"
import { ErasureReceipt } from "@tachograph/core/domain/ErasureReceipt"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { AllowedScopes, administering } from "../Authorization.ts"
import { SessionNotFound } from "../Errors.ts"

export class Sessions extends HttpApiGroup.make("sessions").add(
  HttpApiEndpoint.delete("eraseSession", "/sessions/:session", {
    params: { session: SessionId },
    success: ErasureReceipt,
    error: SessionNotFound
  })
    .annotate(AllowedScopes, administering)
    .annotate(OpenApi.Summary, "Erase a session, its events, and content that only those events hold")
) {}
