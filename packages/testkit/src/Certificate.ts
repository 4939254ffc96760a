/** A certificate for 127.0.0.1 and provider.test, and its key. Nothing but tests uses them. */
import { getCACertificates, setDefaultCACertificates } from "node:tls"

export const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgfSGFadB2dhvIpMnv
vS/r22boN3Lfsra+w+3obIt2v9GhRANCAAQuB8dbMbaOWSqzx7JghR/Ir0h0QX+V
yKNZAl3wGbQj2UlSrccj9EXx1MVWy8nkROoTQ5AUI/RWmyIEHRPX6ZGm
-----END PRIVATE KEY-----
`

export const cert = `-----BEGIN CERTIFICATE-----
MIIBnjCCAUWgAwIBAgIUZ12/c5RFNVstTQPD38/8vwazOz8wCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJMTI3LjAuMC4xMCAXDTI2MTEyOTA0MjgzOFoYDzIxMjYxMTA1
MDQyODM4WjAUMRIwEAYDVQQDDAkxMjcuMC4wLjEwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAQuB8dbMbaOWSqzx7JghR/Ir0h0QX+VyKNZAl3wGbQj2UlSrccj9EXx
1MVWy8nkROoTQ5AUI/RWmyIEHRPX6ZGmo3MwcTAdBgNVHQ4EFgQUhCvhVQ6b+KhE
eRMSKiuTann6zhswHwYDVR0jBBgwFoAUhCvhVQ6b+KhEeRMSKiuTann6zhswDwYD
VR0TAQH/BAUwAwEB/zAeBgNVHREEFzAVhwR/AAABgg1wcm92aWRlci50ZXN0MAoG
CCqGSM49BAMCA0cAMEQCIHkBTF7iMsnqyevNoHMW6IVvLezFrfqq4CBhIkYZt21n
AiBQRkKpJYPg1T78nHUjt5XrbmyzGUqMyjz9CVEPxTbCgQ==
-----END CERTIFICATE-----
`

/** Lets this process trust it. */
export const trust = (): void => setDefaultCACertificates([...getCACertificates(), cert])
