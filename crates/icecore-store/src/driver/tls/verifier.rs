//! Verification of server certificates.

use super::{Mode, Tls};
use crate::error::{Error, ErrorKind, Result};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use std::sync::Arc;

#[derive(Debug)]
struct Verifier {
    provider: Arc<CryptoProvider>,
    /// `None` accepts any server.
    authorities: Option<Arc<WebPkiServerVerifier>>,
    verifies_name: bool,
}

fn load_authorities(tls: &Tls) -> Result<RootCertStore> {
    let mut store = RootCertStore::empty();
    let Some(file) = &tls.authorities else {
        store.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        return Ok(store);
    };
    let file_error = |error: &dyn std::fmt::Display| {
        Error::new(ErrorKind::Address, format!("sslrootcert {}: {error}", file.display()))
    };
    for certificate in CertificateDer::pem_file_iter(file).map_err(|error| file_error(&error))? {
        let certificate = certificate.map_err(|error| file_error(&error))?;
        store.add(certificate).map_err(|error| file_error(&error))?;
    }
    if store.is_empty() { Err(file_error(&"the file contains no certificate")) } else { Ok(store) }
}

/// Returns the configuration of encrypted connections.
pub(crate) fn client_config(tls: &Tls) -> Result<ClientConfig> {
    let tls_error = |error: &dyn std::fmt::Display| Error::new(ErrorKind::Address, format!("TLS: {error}"));
    let provider = Arc::new(ring::default_provider());
    let authorities_verifier = match tls.mode {
        Mode::VerifyAuthority | Mode::VerifyFull => {
            let builder = WebPkiServerVerifier::builder_with_provider(load_authorities(tls)?.into(), provider.clone());
            Some(builder.build().map_err(|error| tls_error(&error))?)
        }
        _ => None,
    };
    let verifier = Verifier {
        provider: provider.clone(),
        authorities: authorities_verifier,
        verifies_name: tls.mode == Mode::VerifyFull,
    };
    Ok(ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| tls_error(&error))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth())
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        let Some(authorities) = &self.authorities else { return Ok(ServerCertVerified::assertion()) };
        match authorities.verify_server_cert(certificate, intermediates, name, ocsp, now) {
            // rustls checks the name last, so the certificate is valid except for the name.
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if !self.verifies_name => Ok(ServerCertVerified::assertion()),
            result => result,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
