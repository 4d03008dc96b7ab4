//! Encrypted connections for the PostgreSQL driver.

use super::{Tls, verifier};
use crate::error::Result;
use postgres::Socket;
use postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::TlsConnector;

#[derive(Clone)]
pub(in crate::driver) struct MakeTls(Arc<ClientConfig>);

impl MakeTls {
    pub(in crate::driver) fn new(tls: &Tls) -> Result<MakeTls> {
        let mut config = verifier::client_config(tls)?;
        config.alpn_protocols = vec![b"postgresql".to_vec()];
        Ok(MakeTls(Arc::new(config)))
    }
}

impl MakeTlsConnect<Socket> for MakeTls {
    type Stream = Encrypted;
    type TlsConnect = Connect;
    type Error = io::Error;

    fn make_tls_connect(&mut self, host: &str) -> io::Result<Connect> {
        // A local socket has no host name, and needs none.
        let host = ServerName::try_from(host).ok().map(|name| name.to_owned());
        Ok(Connect { config: self.0.clone(), host })
    }
}

pub(in crate::driver) struct Connect {
    config: Arc<ClientConfig>,
    host: Option<ServerName<'static>>,
}

impl TlsConnect<Socket> for Connect {
    type Stream = Encrypted;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Encrypted>> + Send>>;

    fn connect(self, socket: Socket) -> Self::Future {
        Box::pin(async move {
            let no_name = || io::Error::new(io::ErrorKind::InvalidInput, "the host has no name that TLS can verify");
            let host = self.host.ok_or_else(no_name)?;
            TlsConnector::from(self.config).connect(host, socket).await.map(Encrypted)
        })
    }
}

pub(in crate::driver) struct Encrypted(tokio_rustls::client::TlsStream<Socket>);

impl TlsStream for Encrypted {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for Encrypted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl AsyncWrite for Encrypted {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
