export { prefix } from "@tachograph/api"
export { ApiError, isApiError } from "@tachograph/client/api"
export { type Authorize, Authorizer, type AuthorizeRequest, type Grant, SignInKey } from "./front/Authorizer.ts"
export { mayBeCrossSite } from "./front/CrossSite.ts"
export { preferredWait } from "./handlers/EventLines.ts"
export { BasePath } from "./BasePath.ts"
export { Front } from "./front/Front.ts"
export { AnswerTimeoutMs, defaultAnswerTimeoutMs } from "./front/AnswerTimeout.ts"
export type { Reply } from "./front/Reply.ts"
export {
  defaultMaxBatch,
  defaultMaxBatchLines,
  defaultMaxBody,
  defaultMaxOtherBody,
  MaxBatchBytes,
  MaxBatchLines,
  MaxBodyBytes,
  MaxOtherBodyBytes
} from "./front/RequestBody.ts"
export * as InProcess from "./mounts/InProcess.ts"
export { CloseGraceMs } from "./mounts/PendingCalls.ts"
export * as Node from "./mounts/Node.ts"
export * as Web from "./mounts/Web.ts"
export { MetricsText, ofProcess as processMetrics } from "./response/MetricsText.ts"
export * as Proxy from "./proxy/Proxy.ts"
export * as ProxyOptions from "./proxy/ProxyOptions.ts"
export type { ProxySettings } from "./proxy/ProxyOptions.ts"
export * as Upstreams from "./proxy/Upstreams.ts"
export * as Routes from "./Routes.ts"
export { createTachograph, type Tachograph, type TachographOptions } from "./Tachograph.ts"
export { TachographError, type TachographErrorType } from "./TachographError.ts"
export * as PrometheusText from "./response/PrometheusText.ts"
export {
  defaultOtlpWaitMs,
  Engine,
  IsStrict,
  OtlpWaitMs,
  ProxyUpstreams,
  RedactPatterns,
  ServesLangfuse,
  ServesViewer,
  SignInWay,
  viewerPaths
} from "./Engine.ts"
export * as LocalEngine from "./engine/LocalEngine.ts"
export * as ThreadEngine from "./engine/thread/ThreadEngine.ts"
